try() { sherd info "$1"; echo $?; }
tensors a.npy x:I32:2x3
truncate -s -1 a.npy; try a.npy
tensors a.npy x:I32:2x3
sed -i 's/<i4/|O8/' a.npy; try a.npy
printf '\x93NUMPY\x09\x00' > b.npy; try b.npy
