model m.safetensors
sherd checkpoint save -q m.safetensors step-1 --step 12
sed -i 's/"step": 12/"step": 13/' step-1.metadata.json
sherd verify step-1
