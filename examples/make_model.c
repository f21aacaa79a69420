/* Makes a small model and writes it as one safetensors file: make_model FOLDER
 *
 * The tensors are saved as a checkpoint in memory, and that is converted. */
#include <sherd/sherd.h>

#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 256, WORDS = 4000, LAYERS = 4 };

/* Numbers that look like weights and are the same every time. */
static float *weights(size_t count)
{
	float *w = malloc(count * sizeof(*w));
	uint32_t state = 1;
	for (size_t i = 0; w && i < count; i++) {
		state = state * 1664525u + 1013904223u;
		w[i] = ((float)(state >> 8) / (float)(1 << 24) - 0.5f) * 0.1f;
	}
	return w;
}

static int write_model(const char *folder, const float *values, sherd_error *err)
{
	static const uint64_t embed_shape[] = {WORDS, WIDTH}, layer_shape[] = {WIDTH, WIDTH}, bias_shape[] = {WIDTH};
	static char names[2 * LAYERS][32];
	static const int64_t step = 1200;
	sherd_ckpt_item items[2 * LAYERS + 2] = {
		{.tensor = {"embed.weight", SHERD_F32, 2, embed_shape, 0}, .data = values},
		{.tensor = {"step", SHERD_I64, 0, NULL, 0}, .data = &step},
	};
	for (size_t i = 0; i < LAYERS; i++) {
		(void)snprintf(names[2 * i], sizeof(names[0]), "layer%zu.weight", i);
		(void)snprintf(names[2 * i + 1], sizeof(names[0]), "layer%zu.bias", i);
		items[2 + 2 * i] = (sherd_ckpt_item){.tensor = {names[2 * i], SHERD_F32, 2, layer_shape, 0},
		                                     .data = values + i * 1000};
		items[3 + 2 * i] = (sherd_ckpt_item){.tensor = {names[2 * i + 1], SHERD_F32, 1, bias_shape, 0},
		                                     .data = values + i * 100};
	}
	static const sherd_pair fields[] = {{"model", "demo"}};
	sherd_ckpt_about about = {.fields = fields, .field_count = 1};
	sherd_ckpt_shard_items shard = {items, sizeof(items) / sizeof(items[0])};
	sherd_ckpt_save_options save = {.about = &about};
	sherd_store *memory = NULL, *disk = NULL;
	sherd_bundle *bundle = NULL;
	int rc = sherd_store_open_memory(&memory, err);
	if (rc == SHERD_OK)
		rc = sherd_ckpt_save(memory, "model", &shard, &save, err);
	if (rc == SHERD_OK)
		rc = sherd_bundle_open(&bundle, memory, "model", NULL, err);
	if (rc == SHERD_OK)
		rc = sherd_store_open_local(&disk, folder, &(sherd_local_options){.create = true}, err);
	if (rc == SHERD_OK)
		rc = sherd_convert(bundle, disk, "model.safetensors", SHERD_FORMAT_SAFETENSORS, NULL, err);
	sherd_bundle_close(bundle);
	sherd_store_close(disk);
	sherd_store_close(memory);
	return rc;
}

int main(int argc, char **argv)
{
	sherd_error err;
	float *values = weights((size_t)WORDS * WIDTH);
	if (argc != 2 || !values) {
		(void)fprintf(stderr, "usage: make_model FOLDER\n");
		free(values);
		return 2;
	}
	int rc = write_model(argv[1], values, &err);
	free(values);
	if (rc < 0) {
		(void)fprintf(stderr, "make_model: %s: %s\n", err.object, err.message);
		return 1;
	}
	return 0;
}
