# Delivered as every type, and into a NumPy file, also a sample whose rows nobody has counted.
set-of-rows set
for type in f64 f32 f16 bf16; do
	sherd rows stream set --dtype $type --format text --from 38
	sherd rows stream set --dtype $type --format raw | wc -c
done
for type in f64 f32 f16; do
	sherd rows stream set --dtype $type --sample 0.5 --shuffle 3 --format npy -o $type.npy
	sherd cat $type.npy --format raw | cmp - <(sherd rows stream set --dtype $type --sample 0.5 --shuffle 3 --format raw) && echo same
done
sherd rows stream set --format npy -o all.npy --json
sherd info all.npy
sherd rows stream set --format npy -o all.npy
sherd rows stream set --format npy -o none.npy --dtype bf16
sherd rows stream set --format npy -o set
sherd rows stream set --format npy
sherd rows stream set -o x.npy
sherd rows stream set --format text --replace
ls
