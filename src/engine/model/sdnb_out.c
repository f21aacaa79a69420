#include "engine/model/sdnb_out.h"

#include "base/buf.h"
#include "engine/model/elements.h"

/* SameDiff reads graph and arrays of one file into one Java array. */
#define MOST INT32_MAX

static int sdnb_out_check_texts(const sherd_model *model, sherd_error *err)
{
	for (size_t i = 0; i < model->array_count; i++)
		if (model->arrays[i].dtype == SHERD_UTF8)
			return shd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold",
			                "an SDNB file cannot hold the texts of %.128s", model->arrays[i].name);
	return SHERD_OK;
}

/* Nothing but the variable describes an array that lies after the graph. */
static int check_description(const sherd_model_variable *v, const sherd_tensor *t, sherd_error *err)
{
	bool told = v->shape.at != NULL, same = v->dtype == t->dtype && (!told || v->shape.count == t->ndim);
	for (size_t i = 0; told && same && i < v->shape.count; i++)
		same = v->shape.at[i] >= 0 && (uint64_t)v->shape.at[i] == t->shape[i];
	if (!same)
		return shd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold",
		                "an SDNB file cannot hold %.128s, whose type or shape is not that of its array",
		                v->name);
	return SHERD_OK;
}

/* Arrays that the encoder left to us, one after the other at multiples of SHD_SDNB_ALIGN. */
static int place_arrays(const shd_samediff_source *s, shd_arena *arena, shd_sdnb_out *out, sherd_error *err)
{
	const sherd_model_graph *g = s->graph;
	size_t *arrays = shd_arena_alloc(arena, g->variable_count + 1, sizeof(*arrays));
	shd_java_manifest_entry *entries = shd_arena_alloc(arena, g->variable_count + 1, sizeof(*entries));
	uint64_t at = SHD_SDNB_HEAD + out->graph.size;
	if (!arrays || !entries)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < g->variable_count; i++) {
		const sherd_model_variable *v = &g->variables[i];
		if (v->array == SHERD_NO_ARRAY || s->arrays[v->array].bytes < SHD_SAMEDIFF_INLINE)
			continue;
		const sherd_tensor *t = &s->arrays[v->array];
		TRY(check_description(v, t, err));
		at += -at & (SHD_SDNB_ALIGN - 1);
		if (t->bytes > MOST - SHD_SDNB_HEAD - SHD_SDNB_ALIGN)
			return shd_fail(err, SHERD_EUNSUPPORTED, "too-large",
			                "%.128s alone has 2 GiB or more, which SameDiff cannot load: only a "
			                "container (.sdc) holds it",
			                v->name);
		if (at + t->bytes > MOST)
			return shd_fail(err, SHERD_EUNSUPPORTED, "too-large",
			                "with %.128s a file would have 2 GiB or more, which SameDiff cannot load: "
			                "use (more) shards",
			                v->name);
		entries[out->count] = (shd_java_manifest_entry){v->name, at, t->bytes};
		arrays[out->count++] = v->array;
		at += t->bytes;
	}
	out->head.manifest = at;
	out->arrays = arrays;
	out->entries = entries;
	return SHERD_OK;
}

static int lay_out(const sherd_model *model, const shd_samediff_source *s, shd_arena *arena, shd_sdnb_out *out,
                   sherd_error *err)
{
	SHD_AUTO_BUF manifest = {0};
	*out = (shd_sdnb_out){.model = model};
	TRY(shd_samediff_encode(s, SHD_SAMEDIFF_SDNB, arena, &out->graph, err));
	TRY(place_arrays(s, arena, out, err));
	TRY(shd_java_manifest_encode(&manifest, out->entries, out->count, err));
	out->manifest = shd_arena_copy(arena, manifest.data, manifest.len);
	out->head.manifest_bytes = manifest.len;
	out->size = out->head.manifest + manifest.len;
	return out->manifest ? SHERD_OK : shd_fail_nomem(err);
}

int shd_sdnb_lay_out(const sherd_model *model, const sherd_model_save_options *o, uint32_t files, shd_arena *arena,
                     shd_sdnb_out **out, sherd_error *err)
{
	shd_samediff_source *sources;
	shd_sdnb_out *made = shd_arena_alloc(arena, files, sizeof(*made));
	if (!made)
		return shd_fail_nomem(err);
	if (o->compress != SHERD_COMPRESS_NONE)
		return shd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold", "%s is not written compressed",
		                sherd_format_name(o->format));
	TRY(sdnb_out_check_texts(model, err));
	TRY(shd_sdnb_divide(model, o, files, arena, &sources, err));
	for (uint32_t i = 0; i < files; i++)
		TRY(lay_out(model, &sources[i], arena, &made[i], err));
	*out = made;
	return SHERD_OK;
}
