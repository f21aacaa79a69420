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
	bool dots = len <= 2 && !memcmp(text, "..", len);
	if (plain)
		shd_buf_printf(out, "%s%ssnapshots/%.*s", folder, *folder ? "/" : "", (int)len, text);
	sherd_free(text);
	if (plain && dots) {
		rc = shd_fail(err, SHERD_ECORRUPT, "bad-path", "this names no revision");
		return shd_in_object(err, rc, (const char *)ref.data);
	}
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

/* Files of a snapshot are links to blobs: those whose blob is gone are not there. */
static int find_in_snapshot(sherd_store *store, const char *snapshot, shd_buf *out, sherd_error *err)
{
	int found = find_in(store, snapshot, out, err);
	if (found)
		return found;
	int there = shd_folder_look(store, snapshot, err);
	if (there != SHD_NAMES_FOLDER)
		return there < 0 ? there : 0;
	int rc = shd_fail(err, SHERD_EINCOMPLETE, "missing-shard",
	                  "this revision has no file of a model: its blob is missing, or was never fetched");
	return shd_in_object(err, rc, snapshot);
}

int shd_huggingface_find(sherd_store *store, const char *folder, shd_buf *out, sherd_error *err)
{
	SHD_AUTO_BUF snapshot = {0};
	int found = find_in(store, folder, out, err);
	if (found)
		return found;
	int cache = shd_huggingface_snapshot(store, folder, &snapshot, err);
	if (cache)
		return cache < 0 ? cache : find_in_snapshot(store, (const char *)snapshot.data, out, err);
	return find_in_run(store, folder, out, err);
}

/* ---- opening */

static int read_torch_index(shd_safetensors_index *out, sherd_store *store, const char *key, const sherd_limits *limits,
                            shd_arena *arena, uint64_t *bytes, sherd_error *err)
{
	shd_head head;
	TRY(shd_head_read(&head, store, key, limits, err));
	int rc = shd_safetensors_index_decode(head.text, head.len, limits, arena, out, err);
	*bytes = head.len;
	free(head.text);
	return shd_in_object(err, rc, key);
}

/* Names a file beside the index. A folder could hold an index again, and so on without end. */
static int find_torch_file(shd_buf *path, sherd_store *store, const char *key, const char *file, sherd_error *err)
{
	shd_buf_append(path, key, (size_t)(shd_str_leaf(key) - key));
	shd_buf_append(path, file, strlen(file) + 1);
	TRY(shd_buf_check(path, err));
	int there = shd_folder_look(store, (const char *)path->data, err);
	TRY(there);
	if (there == SHD_NAMES_OBJECT)
		return SHERD_OK;
	int rc = shd_fail(err, SHERD_EINCOMPLETE, "missing-shard", "the index names this file and it is not there");
	return shd_in_object(err, rc, (const char *)path->data);
}

/* Each tensor of the index must be in its file; a name of another value there is no tensor, but is not missing. */
static int check_torch_names(const shd_safetensors_index *index, sherd_bundle *const *sources, sherd_error *err)
{
	SHD_DONE(shd_map_done) shd_map others = {0};
	for (uint32_t i = 0; i < index->file_count; i++)
		for (size_t k = 0; k < sources[i]->pair_count; k++) {
			bool ok;
			(void)shd_map_add(&others, shd_str_of(sources[i]->pairs[k].key), i, &ok);
			if (!ok)
				return shd_fail_nomem(err);
		}
	for (size_t i = 0; i < index->count; i++) {
		const shd_safetensors_index_entry *e = &index->entries[i];
		if (sherd_bundle_find(sources[e->file], e->name) == SHERD_NO_TENSOR &&
		    shd_map_find(&others, shd_str_of(e->name)) == SHD_MAP_NONE)
			return shd_fail(err, SHERD_ECORRUPT, "bad-index", "%.80s is not in %.80s, as the index says",
			                e->name, index->files[e->file]);
	}
	return SHERD_OK;
}

/* Several files of torch.save() by their index. */
static int open_torch_files(sherd_bundle ***sources, size_t *count, sherd_store *store, const char *key,
                            const sherd_bundle_options *options, shd_arena *arena, sherd_error *err)
{
	shd_safetensors_index index;
	uint64_t bytes;
	TRY(read_torch_index(&index, store, key, options->limits, arena, &bytes, err));
	*sources = calloc((size_t)index.file_count + 1, sizeof(**sources));
	if (!*sources)
		return shd_fail_nomem(err);
	for (uint32_t i = 0; i < index.file_count; i++) {
		SHD_AUTO_BUF path = {0};
		TRY(find_torch_file(&path, store, key, index.files[i], err));
		int rc = sherd_bundle_open(&(*sources)[i], store, (const char *)path.data, options, err);
		TRY(shd_in_object(err, rc, (const char *)path.data));
		*count = i + 1;
	}
	return check_torch_names(&index, *sources, err);
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

/* What a file says itself; warnings that nothing has checksums are for who knows of none. */
static int verify_file(sherd_report *r, sherd_store *store, const char *key, const sherd_verify_options *o, bool hashed,
                       sherd_error *err)
{
	SHD_AUTO(sherd_report, sherd_report_close) inner = NULL;
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

/* Opens the set, which holds the index against the files, and looks for tensors that the index does not have. */
static int verify_torch_names(sherd_store *store, const char *key, const shd_safetensors_index *index,
                              const sherd_verify_options *o, sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) bundle = NULL;
	SHD_DONE(shd_map_done) shd_map entries = {0};
	const sherd_bundle_options options = {.pool = o->pool, .limits = o->limits, .progress = o->progress};
	TRY(open_torch_index(&bundle, store, key, &options, err));
	for (size_t i = 0; i < index->count; i++) {
		bool ok;
		(void)shd_map_add(&entries, shd_str_of(index->entries[i].name), i, &ok);
		if (!ok)
			return shd_fail_nomem(err);
	}
	for (size_t i = 0; bundle && i < bundle->count; i++)
		if (shd_map_find(&entries, shd_str_of(bundle->tensors[i].name)) == SHD_MAP_NONE)
			return shd_fail(err, SHERD_ECORRUPT, "bad-index", "%.128s is in a file, but not in the index",
			                bundle->tensors[i].name);
	return SHERD_OK;
}

/* Every file is looked at, so that all damage is told; then what the index says of them. */
static int verify_torch_index(sherd_report *r, sherd_store *store, const char *key, const sherd_verify_options *o,
                              bool hashed, sherd_error *err)
{
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	shd_safetensors_index index;
	sherd_error found = {0};
	uint64_t bytes = 0;
	int rc = read_torch_index(&index, store, key, o->limits, &arena, &bytes, &found);
	r->checked += hashed ? 0 : bytes;
	if (rc < 0)
		return shd_report_take(r, rc, &found, key, err);
	for (uint32_t i = 0; i < index.file_count; i++) {
		SHD_AUTO_BUF path = {0};
		rc = find_torch_file(&path, store, key, index.files[i], &found);
		if (rc == SHERD_OK)
			rc = verify_file(r, store, (const char *)path.data, o, hashed, &found);
		TRY(shd_report_take(r, rc, &found, (const char *)path.data, err));
	}
	if (sherd_report_errors(r))
		return SHERD_OK;
	rc = verify_torch_names(store, key, &index, o, &found);
	return shd_report_take(r, rc, &found, key, err);
}

static int verify_model(sherd_report *r, sherd_store *store, const char *key, const sherd_verify_options *o,
                        bool hashed, sherd_error *err)
{
	bool several = shd_str_ends(shd_str_of(key), TORCH_INDEX);
	return several ? verify_torch_index(r, store, key, o, hashed, err) : verify_file(r, store, key, o, hashed, err);
}

static int huggingface_verify(sherd_report *r, sherd_store *store, const char *key, const sherd_verify_options *o,
                              sherd_error *err)
{
	SHD_AUTO_BUF model = {0}, snapshot = {0};
	sherd_error bad = {0};
	int found = shd_huggingface_find(store, key, &model, err);
	TRY(found);
	int cache = shd_huggingface_snapshot(store, key, &snapshot, &bad);
	if (cache < 0)
		return shd_report_take(r, cache, &bad, key, err);
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
