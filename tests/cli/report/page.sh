# One page without scripts or addresses; names are text, whatever is in them.
tensors m.safetensors '</script><script>x:F32:2' 'layers.0.w:F32:3' 'layers.1.w:F32:3' $'a\nb:F32:1=nan' $'\xe2\x80\xaex:U8:1' @k='<b>"v"</b>'
sherd report m.safetensors -o r.html
echo "exit $?"
grep -c '<script' r.html
grep -oE "(src|href)=\"[^#\"][^\"]*\"|url\\(|@import" r.html
grep -o 'default-src[^"]*' r.html
grep -o '<h2[^>]*>[^<]*' r.html
grep -o 'layers[^<]*' r.html | sort | uniq -c
grep -o '&lt;/script&gt;&lt;script&gt;x' r.html | sort -u
grep -c $'\xe2\x80\xae' r.html
sherd report m.safetensors -o r.html
echo "exit $?"
sherd report m.safetensors -o r.html --replace --json | field '[d["path"], d["bytes"] > 1000, d["errors"]]'
sherd report m.safetensors -o - | cmp - r.html && echo the same on standard output
sherd report m.safetensors
echo "exit $?"
sherd report none -o x.html
echo "exit $?"
ls
