model m.safetensors
SOURCE_DATE_EPOCH=soon sherd checkpoint save m.safetensors a
