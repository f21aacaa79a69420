/* bench_convert - from safetensors to GGUF, from GGUF to a checkpoint, and cast to BF16 on the way, against cp and sync
 * of the same file.
 *
 * What is read was just written, so that it is in memory as far as there is room. Everything written is durable. */
#include "machine.h"
#include "measure.h"
#include "tensors.h"

#include <sherd/convert.h>

#include <stdio.h>
#include <stdlib.h>

typedef struct step {
	const char *what, *from, *to;
	sherd_format format;
	sherd_dtype dtype; /* NONE: nothing is cast */
	double goal;       /* against cp; 0: none */
} step;

static const step steps[] = {
	{"safetensors to GGUF", "a.safetensors", "b.gguf", SHERD_FORMAT_GGUF, 0, 0.8},
	{"GGUF to a checkpoint", "b.gguf", "c", SHERD_FORMAT_CHECKPOINT, 0, 0.8},
	{"F32 to BF16, safetensors", "a.safetensors", "d.safetensors", SHERD_FORMAT_SAFETENSORS, SHERD_BF16, 0},
};

static void must(int rc, const sherd_error *err)
{
	if (rc < 0)
		bench_fail("%s: %s", err->object, err->message);
}

static double convert(sherd_store *store, const step *s, sherd_pool *pool, uint64_t bytes)
{
	sherd_error err = {0};
	sherd_bundle *bundle, *cast = NULL;
	const sherd_convert_options options = {.replace = true, .pool = pool};
	const sherd_derive_options derive = {.dtype = s->dtype};
	bench_settle();
	double start = bench_now();
	must(sherd_bundle_open(&bundle, store, s->from, NULL, &err), &err);
	const sherd_bundle *from = bundle;
	if (s->dtype)
		must(sherd_bundle_derive(&cast, &from, 1, &derive, NULL, &err), &err);
	must(sherd_convert(cast ? cast : bundle, store, s->to, s->format, &options, &err), &err);
	double seconds = bench_now() - start;
	sherd_bundle_close(cast);
	sherd_bundle_close(bundle);
	if (s->format == SHERD_FORMAT_CHECKPOINT)
		must(sherd_ckpt_remove(store, s->to, NULL, NULL, &err), &err);
	return (double)bytes / seconds / 1e9;
}

/* Of the same source, to a new file, until it is on the disk. */
static double copy(const char *from, uint64_t bytes)
{
	char command[1024];
	(void)snprintf(command, sizeof(command), "cd '%s' && cp --reflink=never '%s' copy && sync copy", bench_folder(),
	               from);
	bench_settle();
	double start = bench_now();
	if (system(command) != 0) // NOLINT(cert-env33-c): it is cp that is measured
		bench_fail("%s failed", command);
	double seconds = bench_now() - start;
	(void)snprintf(command, sizeof(command), "%s/copy", bench_folder());
	(void)remove(command);
	return (double)bytes / seconds / 1e9;
}

static void measure(sherd_store *store, const step *s, sherd_pool *pool, uint64_t bytes)
{
	bench_series ours = {0}, cp = {0};
	for (int i = 0; i < bench_pairs(); i++) {
		bench_add(&ours, convert(store, s, pool, bytes));
		bench_add(&cp, copy(s->from, bytes));
	}
	const bench_row row = {.id = "T1",
	                       .what = s->what,
	                       .unit = "GB/s",
	                       .ours = &ours,
	                       .against = "cp and sync",
	                       .other = &cp,
	                       .goal = s->goal > 0 ? BENCH_AT_LEAST : BENCH_SHOWN,
	                       .target = s->goal};
	bench_report(&row);
}

int main(void)
{
	sherd_error err = {0};
	sherd_pool *pool = bench_pool(0);
	sherd_bundle *ckpt;
	bench_begin("convert");
	uint64_t bytes = bench_bytes(2, 3.0, 3.5);
	uint8_t *memory = bench_memory(bytes, NULL);
	sherd_store *store = bench_store();
	bench_tensors tensors = bench_tensors_of(memory, bytes, 1);
	bench_fill(memory, bytes);
	must(sherd_ckpt_save(store, "c", tensors.shards, NULL, &err), &err);
	must(sherd_bundle_open(&ckpt, store, "c", NULL, &err), &err);
	must(sherd_convert(ckpt, store, "a.safetensors", SHERD_FORMAT_SAFETENSORS, NULL, &err), &err);
	sherd_bundle_close(ckpt);
	must(sherd_ckpt_remove(store, "c", NULL, NULL, &err), &err);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		measure(store, &steps[i], pool, bytes);
	bench_end();
	(void)sherd_store_remove(store, "a.safetensors", NULL);
	(void)sherd_store_remove(store, "b.gguf", NULL);
	(void)sherd_store_remove(store, "d.safetensors", NULL);
	bench_tensors_done(&tensors);
	sherd_pool_close(pool);
	sherd_store_close(store);
	return 0;
}
