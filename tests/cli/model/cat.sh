cp "$SHERD_SOURCE/tests/corpus/samediff_graph/y_full.fb" full.fb
for name in w half bf16 bool i8 u8 i16 u16 i32 u32 i64 u64 f64 le text old none empty zero @op/mul/scalar @@op/mul/scalar @@updater/w/M; do
	echo "$name: $(sherd cat full.fb $name | tr '\n' '|')"
done
sherd cat full.fb w --range 1:2
sherd model cat full.fb w --format npy | tail -c 24 | od -An -tx1
