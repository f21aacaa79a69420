/* tests/interop/checkpoint.c - the library's side of the interop test of checkpoints.
 *
 *	program save FOLDER       makes sets there: "plain", "cut", "csharp", "types"
 *	program check PREFIX      verifies without error or warning, then prints the tensors as JSON
 *	program print PREFIX      prints the tensors as JSON, whatever the warnings */
#include <sherd/ckpt.h>
#include <sherd/verify.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 7, COLUMNS = 5 };

static int complain(const sherd_error *err)
{
	(void)fprintf(stderr, "%s: %s: %s\n", err->object, err->reason ? err->reason : "", err->message);
	return 1;
}

static void print_text(const char *text)
{
	(void)putchar('"');
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		if (c < 0x20 || c == '"' || c == '\\')
			(void)printf("\\u%04x", c);
		else
			(void)putchar(c);
	}
	(void)putchar('"');
}

static int print_tensor(const sherd_ckpt *ckpt, size_t index, sherd_error *err)
{
	const sherd_tensor *t = sherd_ckpt_tensor(ckpt, index);
	unsigned char *bytes = malloc(t->bytes ? t->bytes : 1);
	sherd_ckpt_want want = {.tensor = index, .buf = bytes};
	int rc = bytes ? sherd_ckpt_load(ckpt, &want, 1, NULL, err) : SHERD_ENOMEM;
	if (rc == SHERD_OK) {
		(void)printf("%s\n {\"name\": ", index ? "," : "");
		print_text(t->name);
		char type[SHERD_MAX_TYPE_NAME + 8];
		(void)snprintf(type, sizeof(type), "%s%s", t->dtype == SHERD_OPAQUE ? "Opaque:" : "",
		               sherd_tensor_type(t));
		(void)printf(", \"dtype\": ");
		print_text(type);
		(void)printf(", \"shape\": [");
		for (uint32_t d = 0; d < t->ndim; d++)
			(void)printf("%s%llu", d ? ", " : "", (unsigned long long)t->shape[d]);
		(void)printf("], \"hex\": \"");
		for (uint64_t i = 0; i < t->bytes; i++)
			(void)printf("%02x", bytes[i]);
		(void)printf("\"}");
	}
	free(bytes);
	return rc;
}

static int print_set(sherd_store *store, const char *prefix)
{
	sherd_error err = {0};
	sherd_ckpt *ckpt;
	if (sherd_ckpt_open(&ckpt, store, prefix, NULL, &err) < 0)
		return complain(&err);
	int rc = SHERD_OK;
	(void)printf("{\"tensors\": [");
	for (size_t i = 0; i < sherd_ckpt_count(ckpt) && rc == SHERD_OK; i++)
		rc = print_tensor(ckpt, i, &err);
	(void)printf("\n]}\n");
	sherd_ckpt_close(ckpt);
	return rc == SHERD_OK ? 0 : complain(&err);
}

static int check_set(sherd_store *store, const char *prefix)
{
	sherd_error err = {0};
	sherd_report *report;
	if (sherd_verify(&report, store, prefix, NULL, &err) < 0)
		return complain(&err);
	int bad = 0;
	for (size_t i = 0; i < sherd_report_errors(report); i++)
		bad = complain(sherd_report_error(report, i));
	for (size_t i = 0; i < sherd_report_warnings(report); i++)
		bad = complain(sherd_report_warning(report, i));
	sherd_report_close(report);
	return bad;
}

static int save_cut(sherd_store *store, sherd_digest digest, sherd_error *err)
{
	static float values[ROWS * COLUMNS];
	static const uint64_t whole[] = {ROWS, COLUMNS}, top[] = {3, COLUMNS}, bottom[] = {4, COLUMNS}, at0[] = {0, 0},
			      at3[] = {3, 0};
	for (int i = 0; i < ROWS * COLUMNS; i++)
		values[i] = (float)i / 4;
	const sherd_ckpt_item items[] = {
		{.tensor = {"grid", SHERD_F32, 2, top, 0}, .global_shape = whole, .global_offset = at0, .data = values},
		{.tensor = {"grid", SHERD_F32, 2, bottom, 0},
	         .global_shape = whole,
	         .global_offset = at3,
	         .data = values + (size_t)3 * COLUMNS},
	};
	const sherd_ckpt_shard_items shards[] = {{&items[1], 1}, {&items[0], 1}};
	return sherd_ckpt_save(store, digest ? "tree" : "cut", shards,
	                       &(sherd_ckpt_save_options){.world = 2, .digest = digest}, err);
}

/* One tensor of two blocks and a bit, so that more than one checksum is there. */
static int save_plain(sherd_store *store, bool csharp, sherd_error *err)
{
	static const uint64_t shape[] = {(16u << 20) + 3}, few[] = {3};
	static uint8_t bytes[(16u << 20) + 3];
	static const int64_t numbers[] = {INT64_MIN, 0, INT64_MAX};
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * i >> 7);
	const sherd_ckpt_item items[] = {
		{.tensor = {"bytes", SHERD_U8, 1, shape, 0}, .data = bytes},
		{.tensor = {"numbers", SHERD_I64, 1, few, 0}, .data = numbers},
	};
	const sherd_ckpt_shard_items shards[] = {{items, 2}};
	sherd_ckpt_save_options options = {.layout = csharp ? SHERD_CKPT_LAYOUT_CSHARP : SHERD_CKPT_LAYOUT_SHERD};
	return sherd_ckpt_save(store, csharp ? "csharp" : "plain", shards, &options, err);
}

/* Elements that share bytes, blocks that are cut by rows and by columns, and a type that nobody knows. */
static int save_types(sherd_store *store, sherd_error *err)
{
	static uint8_t bytes[4096];
	static const uint64_t pairs[] = {3, 4}, odd[] = {4, 3}, wide[] = {4, 512}, upper[] = {1, 512},
			      lower[] = {3, 512}, left[] = {4, 256}, at0[] = {0, 0}, at1[] = {1, 0}, right[] = {0, 256};
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 29 + i / 256);
	const sherd_ckpt_item items[2][6] = {
		{{.tensor = {"f4", SHERD_F4, 2, pairs}, .data = bytes},
	         {.tensor = {"lump", SHERD_F6_E2M3, 2, odd}, .data = bytes + 1},
	         {.tensor = {"scale", SHERD_F8_E8M0, 2, odd}, .data = bytes + 2},
	         {.tensor = {"opaque", SHERD_OPAQUE, 2, odd, 5, "I4"}, .data = bytes + 3},
	         {.tensor = {"rows", SHERD_Q4_0, 2, upper}, .global_shape = wide, .global_offset = at0, .data = bytes},
	         {.tensor = {"columns", SHERD_Q6_K, 2, left},
	          .global_shape = wide,
	          .global_offset = right,
	          .data = bytes}},
		{{.tensor = {"rows", SHERD_Q4_0, 2, lower},
	          .global_shape = wide,
	          .global_offset = at1,
	          .data = bytes + 9},
	         {.tensor = {"columns", SHERD_Q6_K, 2, left},
	          .global_shape = wide,
	          .global_offset = at0,
	          .data = bytes + 7}}};
	const sherd_ckpt_shard_items shards[] = {{items[0], 6}, {items[1], 2}};
	return sherd_ckpt_save(store, "types", shards, &(sherd_ckpt_save_options){.world = 2}, err);
}

static int save(const char *folder)
{
	sherd_error err = {0};
	sherd_store *store;
	if (sherd_store_open_local(&store, folder, &(sherd_local_options){.create = true}, &err) < 0)
		return complain(&err);
	int rc = save_plain(store, false, &err);
	if (rc == SHERD_OK)
		rc = save_plain(store, true, &err);
	if (rc == SHERD_OK)
		rc = save_cut(store, SHERD_DIGEST_SHA256, &err);
	if (rc == SHERD_OK)
		rc = save_cut(store, SHERD_DIGEST_BLAKE3, &err);
	if (rc == SHERD_OK)
		rc = save_types(store, &err);
	sherd_store_close(store);
	return rc == SHERD_OK ? 0 : complain(&err);
}

int main(int argc, char **argv)
{
	sherd_error err = {0};
	sherd_store *store;
	char *prefix;
	if (argc != 3)
		return 2;
	if (strcmp(argv[1], "save") == 0)
		return save(argv[2]);
	if (sherd_store_open(&store, &prefix, argv[2], NULL, &err) < 0)
		return complain(&err);
	int bad = strcmp(argv[1], "check") == 0 ? check_set(store, prefix) : 0;
	if (!bad)
		bad = print_set(store, prefix);
	sherd_free(prefix);
	sherd_store_close(store);
	return bad;
}
