tensors a.npy x:U8:3000000
sherd cat a.npy | head -c 10
echo " ${PIPESTATUS[0]}"
