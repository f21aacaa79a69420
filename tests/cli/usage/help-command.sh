# no command shows the usual ones, help lists all or tells about one; checkpoint info and cat exist.
sherd | head -4
sherd help | head -2
sherd help checkpoint | head -2
sherd help checkpoint cat | head -1
sherd help convert | head -1
sherd help frobnicate
echo $?
sherd help checkpoint frobnicate
echo $?
model m.safetensors
sherd checkpoint save -q m.safetensors a
diff <(sherd checkpoint info a) <(sherd info a) && diff <(sherd checkpoint cat a ids) <(sherd cat a ids) && echo the same
