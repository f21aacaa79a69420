#include "engine/tensors/huggingface.h"

#include "engine/tensors/derive.h"
#include "engine/tensors/folder.h"
#include "format/tensor/safetensors_index.h"

#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_report, sherd_report_close)

#define RUN_PART "checkpoint-"
#define TORCH_INDEX ".bin.index.json"
enum { MOST_REVISION = 256 };

/* What holds tensors, the first one that is there. */
static const char *const model_names[] = {
	"model.safetensors.index.json",
	"model.safetensors",
	"pytorch_model.bin.index.json",
	"pytorch_model.bin",
	"adapter_model.safetensors",
	"adapter_model.bin",
	"diffusion_pytorch_model.safetensors.index.json",
	"diffusion_pytorch_model.safetensors",
};

static int find_in(sherd_store *store, const char *folder, shd_buf *out, sherd_error *err)
{
	for (size_t i = 0; i < COUNT_OF(model_names); i++) {
		out->len = 0;
		TRY(shd_folder_key(out, folder, model_names[i], err));
		int there = shd_folder_look(store, (const char *)out->data, err);
		TRY(there);
		if (there == SHD_NAMES_OBJECT)
			return 1;
	}
	out->len = 0;
	return 0;
}

/* ---- caches: refs/main tells the revision, snapshots/<revision> has its files */

int shd_huggingface_snapshot(sherd_store *store, const char *folder, shd_buf *out, sherd_error *err)
{
	SHD_AUTO_BUF ref = {0};
	sherd_error failure;
	char *text;
	size_t len;
	TRY(shd_folder_key(&ref, folder, "refs/main", err));
	int rc = sherd_store_get(&text, &len, store, (const char *)ref.data, MOST_REVISION, &failure);
	if (rc == SHERD_EIO || rc == SHERD_ENOMEM)
		return shd_pass(err, rc, &failure);
	if (rc < 0)
		return 0;
	while (len && (text[len - 1] == '\n' || text[len - 1] == '\r'))
		len--;
	bool plain = len && !memchr(text, '/', len) && !memchr(text, 0, len);
	if (plain)
		shd_buf_printf(out, "%s%ssnapshots/%.*s", folder, *folder ? "/" : "", (int)len, text);
	sherd_free(text);
	TRY(shd_buf_end(out, err));
	return plain;
}

/* ---- runs: the folder of the latest step */

typedef struct run_search {
	size_t base; /* bytes of "<folder>/checkpoint-" */
	uint64_t step;
	bool found;
} run_search;

static bool is_model_name(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(model_names); i++)
		if (strcmp(name, model_names[i]) == 0)
			return true;
	return false;
}

static bool look_at_step(void *arg, const char *key, const sherd_stat *stat)
{
	run_search *s = arg;
	const char *digits = key + s->base;
	size_t n = strspn(digits, "0123456789");
	(void)stat;
	if (!n || n > 18 || digits[n] != '/' || !is_model_name(digits + n + 1))
		return true;
	uint64_t step = strtoull(digits, NULL, 10);
	if (!s->found || step >= s->step)
		s->step = step;
	s->found = true;
	return true;
}

static int find_in_run(sherd_store *store, const char *folder, shd_buf *out, sherd_error *err)
{
	SHD_AUTO_BUF prefix = {0};
	TRY(shd_folder_key(&prefix, folder, RUN_PART, err));
	run_search s = {.base = prefix.len - 1};
	TRY(sherd_store_list(store, (const char *)prefix.data, NULL, look_at_step, &s, err));
	if (!s.found)
		return 0;
	prefix.len--;
	shd_buf_printf(&prefix, "%llu", (unsigned long long)s.step);
	TRY(shd_buf_end(&prefix, err));
	return find_in(store, (const char *)prefix.data, out, err);
}

int shd_huggingface_find(sherd_store *store, const char *folder, shd_buf *out, sherd_error *err)
{
	SHD_AUTO_BUF snapshot = {0};
	int found = find_in(store, folder, out, err);
	if (found)
		return found;
	int cache = shd_huggingface_snapshot(store, folder, &snapshot, err);
	if (cache)
		return cache < 0 ? cache : find_in(store, (const char *)snapshot.data, out, err);
	return find_in_run(store, folder, out, err);
}

/* ---- opening */

/* Several files of torch.save() by their index. */
static int open_torch_files(sherd_bundle ***sources, size_t *count, sherd_store *store, const char *key,
                            const sherd_bundle_options *options, shd_arena *arena, sherd_error *err)
{
	shd_safetensors_index index;
	shd_head head;
	TRY(shd_head_read(&head, store, key, options->limits, err));
	int rc = shd_safetensors_index_decode(head.text, head.len, options->limits, arena, &index, err);
	free(head.text);
	TRY(shd_in_object(err, rc, key));
	*sources = calloc((size_t)index.file_count + 1, sizeof(**sources));
	if (!*sources)
		return shd_fail_nomem(err);
	for (uint32_t i = 0; i < index.file_count; i++) {
		SHD_AUTO_BUF path = {0};
		sherd_error failure;
		shd_buf_append(&path, key, (size_t)(shd_str_leaf(key) - key));
		shd_buf_append(&path, index.files[i], strlen(index.files[i]) + 1);
		TRY(shd_buf_check(&path, err));
		rc = sherd_bundle_open(&(*sources)[i], store, (const char *)path.data, options, &failure);
		if (rc == SHERD_ENOTFOUND)
			rc = shd_fail(&failure, SHERD_EINCOMPLETE, "missing-shard",
			              "the index names this file and it is not there");
		TRY(shd_in_object(err, shd_pass(err, rc, &failure), (const char *)path.data));
		*count = i + 1;
	}
	return SHERD_OK;
}

static int open_torch_index(sherd_bundle **out, sherd_store *store, const char *key,
                            const sherd_bundle_options *options, sherd_error *err)
{
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	sherd_bundle **sources = NULL;
	size_t count = 0;
	const sherd_derive_options join = {.prefer = SHERD_PREFER_NONE};
	int rc = open_torch_files(&sources, &count, store, key, options, &arena, err);
	if (rc == SHERD_OK)
		rc = sherd_bundle_derive(out, (const sherd_bundle *const *)sources, count, &join, NULL, err);
	if (rc == SHERD_OK) {
		shd_derived_own(*out, sources, count);
		return SHERD_OK;
	}
	for (size_t i = 0; i < count; i++)
		sherd_bundle_close(sources[i]);
	free(sources);
	return shd_in_object(err, rc, key);
}

static int huggingface_open(sherd_bundle **out, shd_evidence *e, const sherd_bundle_options *options, sherd_error *err)
{
	SHD_AUTO_BUF key = {0};
	int found = shd_huggingface_find(e->store, e->key, &key, err);
	TRY(found);
	if (!found)
		return shd_fail(err, SHERD_ENOTFOUND, "not-found", "the folder has no model any more");
	const char *name = (const char *)key.data;
	TRY(shd_str_ends(shd_str_of(name), TORCH_INDEX) ? open_torch_index(out, e->store, name, options, err)
	                                                : sherd_bundle_open(out, e->store, name, options, err));
	(*out)->format = SHERD_FORMAT_HUGGINGFACE;
	return SHERD_OK;
}

/* ---- verify */

/* What the files say themselves; warnings that nothing has checksums are for who knows of none. */
static int verify_model(sherd_report *r, sherd_store *store, const char *key, const sherd_verify_options *o,
                        bool hashed, sherd_error *err)
{
	SHD_AUTO(sherd_report, sherd_report_close) inner = NULL;
	sherd_error found = {0};
	if (shd_str_ends(shd_str_of(key), TORCH_INDEX)) {
		SHD_AUTO(sherd_bundle, sherd_bundle_close) bundle = NULL;
		const sherd_bundle_options options = {.limits = o->limits};
		int rc = open_torch_index(&bundle, store, key, &options, &found);
		return shd_report_take(r, rc, &found, key, err);
	}
	TRY(sherd_verify(&inner, store, key, o, err));
	for (size_t i = 0; hashed && i < inner->warnings.count;) {
		if (strcmp(inner->warnings.items[i].reason, "no-checksum") != 0) {
			i++;
			continue;
		}
		memmove(&inner->warnings.items[i], &inner->warnings.items[i + 1],
		        (inner->warnings.count - i - 1) * sizeof(inner->warnings.items[0]));
		inner->warnings.count--;
	}
	r->checked += hashed ? 0 : inner->checked;
	return shd_report_merge(r, inner, err);
}

static int huggingface_verify(sherd_report *r, sherd_store *store, const char *key, const sherd_verify_options *o,
                              sherd_error *err)
{
	SHD_AUTO_BUF model = {0}, snapshot = {0};
	int found = shd_huggingface_find(store, key, &model, err);
	TRY(found);
	int cache = shd_huggingface_snapshot(store, key, &snapshot, err);
	TRY(cache);
	bool hashed = cache && !o->quick;
	if (hashed)
		TRY(shd_huggingface_check_cache(r, store, key, (const char *)snapshot.data, o, err));
	return found ? verify_model(r, store, (const char *)model.data, o, hashed, err) : SHERD_OK;
}

/* ---- the entry */

static int huggingface_probe(shd_evidence *e, sherd_error *err)
{
	SHD_AUTO_BUF key = {0};
	return shd_huggingface_find(e->store, e->key, &key, err);
}

const shd_format_entry shd_format_huggingface = {
	.info = {.id = SHERD_FORMAT_HUGGINGFACE,
                 .kind = SHERD_KIND_TENSORS,
                 .name = "huggingface",
                 .noun = "a folder of a Hugging Face model",
                 .folder = true,
                 .holds = SHERD_HOLDS_PAIRS | SHERD_HOLDS_MANY},
	.probe_set = huggingface_probe,
	.open = huggingface_open,
	.verify = huggingface_verify,
};
