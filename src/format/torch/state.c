#include "format/torch/state.h"

#include "codec/json.h"
#include "format/torch/walker.h"

#include <stdio.h>
#include <stdlib.h>

int shd_torch_spend(shd_torch_walker *w, uint64_t bytes, sherd_error *err)
{
	w->spent += bytes;
	if (w->spent <= w->most)
		return SHERD_OK;
	return shd_fail(err, SHERD_ELIMIT, "too-large",
	                "names and values take more than %u times the bytes of the pickle: it uses the same ones again "
	                "and again",
	                SHD_TORCH_SPREAD);
}

static int go_deeper(shd_torch_walker *w, shd_pickle_value v, sherd_error *err)
{
	if (++w->depth > SHD_PICKLE_DEPTH)
		return shd_fail_at(err, SHERD_ELIMIT, "too-deep", v.node->at, "values are nested more than %u deep",
		                   SHD_PICKLE_DEPTH);
	return shd_torch_spend(w, 8, err);
}

/* ---- where tensors are */

static int list_has_tensors(shd_torch_walker *w, const shd_pickle_list *list, sherd_error *err)
{
	shd_pickle_value v = {0};
	int found = 0;
	for (shd_pickle_cursor c = shd_pickle_walk(list); !found && shd_pickle_next(&c, &v);)
		found = shd_pickle_has_node(v) ? shd_torch_has_tensors(w, v, err) : 0;
	return found;
}

/* A value that contains itself has no tensors by that. */
int shd_torch_has_tensors(shd_torch_walker *w, shd_pickle_value v, sherd_error *err)
{
	if (!shd_pickle_has_node(v))
		return 0;
	uint8_t *mark = &w->marks[v.node->number];
	if (*mark != SHD_TORCH_UNSEEN)
		return *mark == SHD_TORCH_TENSORS;
	*mark = SHD_TORCH_ON_THE_WAY;
	const shd_pickle_call *call = shd_pickle_call_of(v);
	TRY(go_deeper(w, v, err));
	int found = v.kind == SHD_PICKLE_PERSID ? 1 : list_has_tensors(w, &v.node->items, err);
	if (!found && call)
		found = list_has_tensors(w, &call->pairs, err);
	if (!found && call)
		found = shd_torch_has_tensors(w, call->args, err);
	if (!found && call)
		found = shd_torch_has_tensors(w, call->state, err);
	w->depth--;
	*mark = found > 0 ? SHD_TORCH_TENSORS : SHD_TORCH_NO_TENSORS;
	return found;
}

/* ---- names */

/* A part of a name; what is no text or number is written as JSON. Returns the length before, to cut it off again. */
static int add_name_part(shd_torch_walker *w, shd_pickle_value key, size_t *before, sherd_error *err)
{
	*before = w->name.len;
	if (w->name.len)
		shd_buf_u8(&w->name, '.');
	if (key.kind == SHD_PICKLE_TEXT && !memchr(key.text, 0, key.len))
		shd_buf_append(&w->name, key.text, key.len);
	else if (key.kind == SHD_PICKLE_INT)
		shd_buf_printf(&w->name, "%lld", (long long)key.integer);
	else
		TRY(shd_torch_put_json(w, key, &w->name, err));
	TRY(shd_buf_check(&w->name, err));
	if (w->name.len > w->limits.name_bytes)
		return shd_fail(err, SHERD_ELIMIT, "name-too-long", "a name of more than %u bytes",
		                w->limits.name_bytes);
	return SHERD_OK;
}

static shd_pickle_value text_value(const char *text)
{
	return (shd_pickle_value){.kind = SHD_PICKLE_TEXT, .len = (uint32_t)strlen(text), .text = text};
}

static shd_pickle_value number_value(size_t n)
{
	return (shd_pickle_value){.kind = SHD_PICKLE_INT, .integer = (int64_t)n};
}

/* The name that was put together; with a number after it where another has it. */
static int take_full_name(shd_torch_walker *w, shd_map *taken, size_t index, const char *alone, char **out,
                          sherd_error *err)
{
	SHD_AUTO_BUF name = {0};
	bool ok = true;
	shd_buf_append(&name, w->name.data, w->name.len);
	if (!name.len)
		shd_buf_str(&name, alone);
	size_t len = name.len;
	for (size_t again = 2; !name.failed; again++) {
		TRY(shd_torch_spend(w, name.len + 16, err));
		if (shd_map_find(taken, (shd_str){(const char *)name.data, name.len}) == SHD_MAP_NONE)
			break;
		name.len = len;
		shd_buf_printf(&name, "~%zu", again);
	}
	TRY(shd_buf_check(&name, err));
	*out = shd_arena_str(w->arena, (shd_str){(const char *)name.data, name.len});
	if (*out)
		(void)shd_map_add(taken, shd_str_of(*out), index, &ok);
	return *out && ok ? SHERD_OK : shd_fail_nomem(err);
}

static int keep_tensor(shd_torch_walker *w, sherd_tensor *t, const shd_torch_view *view, sherd_error *err)
{
	char *name;
	TRY(take_full_name(w, &w->tensor_names, w->tensors.count, "", &name, err));
	t->name = name;
	TRY(shd_torch_spend(w, (uint64_t)t->ndim * 3 * sizeof(uint64_t), err));
	shd_vec_push(&w->tensors, *t);
	shd_vec_push(&w->views, *view);
	return w->tensors.failed || w->views.failed ? shd_fail_nomem(err) : SHERD_OK;
}

static int keep_value(shd_torch_walker *w, shd_pickle_value v, sherd_error *err)
{
	sherd_value value;
	char *name;
	if (w->quiet)
		return SHERD_OK;
	TRY(shd_torch_value_of(w, v, &value, err));
	if (w->name.len == strlen(SHERD_TYPES_KEY) && memcmp(w->name.data, SHERD_TYPES_KEY, w->name.len) == 0)
		shd_buf_u8(&w->name, '~');
	TRY(shd_buf_check(&w->name, err));
	TRY(take_full_name(w, &w->value_names, w->values.count, "value", &name, err));
	value.key = name;
	shd_vec_push(&w->values, value);
	return shd_vec_check(&w->values, err);
}

/* ---- the walk */

static int walk_value(shd_torch_walker *w, shd_pickle_value v, sherd_error *err);

static int walk_part(shd_torch_walker *w, shd_pickle_value key, shd_pickle_value v, sherd_error *err)
{
	size_t before = 0;
	TRY(shd_torch_spend(w, 1, err));
	TRY(add_name_part(w, key, &before, err));
	TRY(walk_value(w, v, err));
	w->name.len = before;
	return SHERD_OK;
}

/* Parts of modules that their own names leave out. */
static bool is_transparent(shd_pickle_value key)
{
	return shd_pickle_is_text(key, "_parameters") || shd_pickle_is_text(key, "_buffers") ||
	       shd_pickle_is_text(key, "_modules");
}

static int walk_pairs(shd_torch_walker *w, const shd_pickle_list *pairs, bool module, sherd_error *err)
{
	shd_pickle_value k = {0}, v = {0};
	shd_pickle_cursor c = shd_pickle_walk(pairs);
	while (shd_pickle_next(&c, &k) && shd_pickle_next(&c, &v))
		if (module && is_transparent(k))
			TRY(walk_value(w, v, err));
		else
			TRY(walk_part(w, k, v, err));
	return SHERD_OK;
}

static int walk_items(shd_torch_walker *w, const shd_pickle_list *items, sherd_error *err)
{
	shd_pickle_value v = {0};
	size_t i = 0;
	for (shd_pickle_cursor c = shd_pickle_walk(items); shd_pickle_next(&c, &v); i++)
		TRY(walk_part(w, number_value(i), v, err));
	return SHERD_OK;
}

/* (layout, parts): sparse tensors. 0 for anything else. */
static int walk_sparse(shd_torch_walker *w, shd_pickle_value v, sherd_error *err)
{
	static const char *const coo[] = {"indices", "values", "size", "is_coalesced"};
	static const char *const compressed[] = {"compressed_indices", "plain_indices", "values", "size"};
	const shd_pickle_value *args, *parts, *layout;
	if (strcmp(shd_torch_name_of(w, v), "torch._utils._rebuild_sparse_tensor") != 0 ||
	    shd_pickle_tuple(shd_pickle_call_of(v)->args, &args) != 2)
		return 0;
	const shd_pickle_call *call = shd_pickle_call_of(args[0]);
	bool is_coo =
		call && shd_pickle_tuple(call->args, &layout) == 1 && shd_pickle_is_text(layout[0], "torch.sparse_coo");
	size_t n = shd_pickle_tuple(args[1], &parts);
	TRY(walk_part(w, text_value("layout"), args[0], err));
	for (size_t i = 0; i < n && i < COUNT_OF(coo); i++)
		TRY(walk_part(w, text_value(is_coo ? coo[i] : compressed[i]), parts[i], err));
	return 1;
}

/* An object with tensors in it: of what it is made, and the tensors; the rest is the object's own. */
static int walk_object(shd_torch_walker *w, shd_pickle_value v, sherd_error *err)
{
	const shd_pickle_call *call = shd_pickle_call_of(v);
	SHD_AUTO_BUF what = {0};
	int sparse = walk_sparse(w, v, err);
	if (sparse)
		return sparse < 0 ? sparse : SHERD_OK;
	shd_buf_printf(&what, "%s %s", v.kind == SHD_PICKLE_CALL ? "made by" : "an object of", shd_torch_name_of(w, v));
	TRY(shd_buf_check(&what, err));
	size_t before = 0;
	TRY(add_name_part(w, text_value("$object"), &before, err));
	char *kept = shd_arena_str(w->arena, (shd_str){(const char *)what.data, what.len});
	if (!kept)
		return shd_fail_nomem(err);
	TRY(shd_torch_spend(w, what.len, err));
	TRY(keep_value(w, text_value(kept), err));
	w->name.len = before;
	bool quiet = w->quiet;
	w->quiet = true;
	const shd_pickle_list *state = shd_pickle_pairs(call->state);
	int rc = state ? walk_pairs(w, state, true, err) : SHERD_OK;
	if (rc == SHERD_OK && !state && shd_pickle_has_node(call->state))
		rc = walk_value(w, call->state, err);
	if (rc == SHERD_OK)
		rc = walk_pairs(w, &call->pairs, false, err);
	if (rc == SHERD_OK)
		rc = walk_items(w, &call->node.items, err);
	if (rc == SHERD_OK && call->args.kind == SHD_PICKLE_TUPLE)
		rc = walk_items(w, &call->args.node->items, err);
	w->quiet = quiet;
	return rc;
}

/* Dictionaries that are made by a call. */
static bool is_dict(const shd_torch_walker *w, shd_pickle_value v)
{
	const char *name = v.kind == SHD_PICKLE_CALL || v.kind == SHD_PICKLE_OBJECT ? shd_torch_name_of(w, v) : "";
	return v.kind == SHD_PICKLE_DICT || strcmp(name, "collections.OrderedDict") == 0 ||
	       strcmp(name, "collections.defaultdict") == 0;
}

static bool has_dicts(const shd_torch_walker *w, const shd_pickle_list *list)
{
	shd_pickle_value v = {0};
	for (shd_pickle_cursor c = shd_pickle_walk(list); shd_pickle_next(&c, &v);)
		if (is_dict(w, v))
			return true;
	return false;
}

/* What has a node and is no tensor. */
static int walk_node(shd_torch_walker *w, shd_pickle_value v, sherd_error *err)
{
	int tensors = shd_torch_has_tensors(w, v, err);
	TRY(tensors);
	if (w->quiet && !tensors)
		return SHERD_OK;
	if (is_dict(w, v)) {
		const shd_pickle_list *pairs = shd_pickle_pairs(v);
		return pairs->count ? walk_pairs(w, pairs, false, err) : keep_value(w, v, err);
	}
	if (v.kind <= SHD_PICKLE_SET)
		return tensors || has_dicts(w, &v.node->items) ? walk_items(w, &v.node->items, err)
		                                               : keep_value(w, v, err);
	return tensors && v.kind != SHD_PICKLE_PERSID ? walk_object(w, v, err) : keep_value(w, v, err);
}

static int walk_value(shd_torch_walker *w, shd_pickle_value v, sherd_error *err)
{
	sherd_tensor t;
	shd_torch_view view;
	if (!shd_pickle_has_node(v))
		return keep_value(w, v, err);
	if (w->on_path[v.node->number]) /* it contains itself: told once */
		return SHERD_OK;
	TRY(go_deeper(w, v, err));
	w->on_path[v.node->number] = true;
	int rc = shd_torch_rebuild(w, v, &t, &view, err);
	if (rc > 0)
		rc = keep_tensor(w, &t, &view, err);
	else if (rc == 0)
		rc = walk_node(w, v, err);
	w->on_path[v.node->number] = false;
	w->depth--;
	return rc;
}

static void walker_done(shd_torch_walker *w)
{
	shd_buf_done(&w->name);
	shd_vec_done(&w->tensors);
	shd_vec_done(&w->views);
	shd_vec_done(&w->storages);
	shd_vec_done(&w->values);
	shd_map_done(&w->tensor_names);
	shd_map_done(&w->storage_names);
	shd_map_done(&w->value_names);
	free(w->marks);
	free(w->on_path);
}

int shd_torch_state_of(const shd_pickle *pickle, const sherd_limits *limits, shd_arena *arena, shd_torch_state *out,
                       sherd_error *err)
{
	SHD_DONE(walker_done)
	shd_torch_walker w = {.pickle = pickle,
	                      .limits = shd_limits_or_default(limits),
	                      .arena = arena,
	                      .most = (uint64_t)pickle->bytes * SHD_TORCH_SPREAD + (1u << 20),
	                      .marks = calloc(pickle->nodes + 1u, sizeof(*w.marks)),
	                      .on_path = calloc(pickle->nodes + 1u, sizeof(*w.on_path))};
	if (!w.marks || !w.on_path)
		return shd_fail_nomem(err);
	TRY(walk_value(&w, pickle->root, err));
	*out = (shd_torch_state){.count = w.tensors.count,
	                         .tensors = shd_vec_copy(&w.tensors, arena),
	                         .views = shd_vec_copy(&w.views, arena),
	                         .storage_count = w.storages.count,
	                         .storages = shd_vec_copy(&w.storages, arena),
	                         .value_count = w.values.count,
	                         .values = shd_vec_copy(&w.values, arena)};
	out->single = out->count == 1 && !*out->tensors[0].name;
	return out->tensors && out->views && out->storages && out->values ? SHERD_OK : shd_fail_nomem(err);
}
