tensors a.npy x:F32:2x2
sherd rows pack -q a.npy set
sherd rows pack a.npy set
echo $?
sherd rows pack --json a.npy set | field 'd["error"]["code"]'
set-of-rows other
sherd rows pack a.npy other
echo $?
ls other
echo file > plain
sherd rows pack a.npy plain/set
echo $?
sherd rows pack -q set set
echo $?
sherd rows verify -q set
