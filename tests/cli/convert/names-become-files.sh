tensors m.safetensors a/b:U8:1=1 a.b:U8:1=2 .hidden:U8:1=3 'x y%:U8:1=4' 'ü:U8:1=5' ..:U8:1=6
sherd convert -q m.safetensors out/
cd out && for f in *.npy .[!.]*; do [ ! -e "$f" ] || echo "$f $(sherd cat "$f")"; done
