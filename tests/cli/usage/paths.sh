model m.safetensors
sherd info file:m.safetensors | head -1
sherd info "file://$PWD/m.safetensors" --json | field 'd["format"]'
mkdir folder
ln -s ../m.safetensors folder/link
sherd info folder/link --json | field 'd["format"]'
sherd info gopher://host/path 2>said
echo $?
sed 's/, s3.*$//' said >&2 # which not every build has
sherd info folder
echo $?
sherd info folder/none/x
echo $?
sherd info ''
echo $?
sherd info .
echo $?
sherd checkpoint save -q m.safetensors folder --shards 2 && sherd verify folder
