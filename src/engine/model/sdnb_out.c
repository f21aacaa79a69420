#include "engine/model/sdnb_out.h"

#include "base/buf.h"
#include "engine/model/elements.h"

/* SameDiff reads graph and arrays of one file into one Java array. */
#define MOST INT32_MAX

static int check_texts(const sherd_model *model, sherd_error *err)
{
	for (size_t i = 0; i < model->array_count; i++)
		if (model->arrays[i].dtype == SHERD_UTF8)
			return sherd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold",
			                  "an SDNB file cannot hold the texts of %.128s", model->arrays[i].name);
	return SHERD_OK;
}

/* Nothing but the variable describes an array that lies behind the graph. */
static int check_description(const sherd_model_variable *v, const sherd_tensor *t, sherd_error *err)
{
	bool told = v->shape.at != NULL, same = v->dtype == t->dtype && (!told || v->shape.count == t->ndim);
	for (size_t i = 0; told && same && i < v->shape.count; i++)
		same = v->shape.at[i] >= 0 && (uint64_t)v->shape.at[i] == t->shape[i];
	if (!same)
		return sherd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold",
		                  "an SDNB file cannot hold %.128s, whose type or shape is not that of its array",
		                  v->name);
	return SHERD_OK;
}

/* Arrays that the encoder left to us, one behind the other at multiples of SHERD_SDNB_ALIGN. */
static int place_arrays(const sherd_samediff_source *s, sherd_arena *arena, sherd_sdnb_out *out, sherd_error *err)
{
	const sherd_model_graph *g = s->graph;
	size_t *arrays = sherd_arena_alloc(arena, g->variable_count + 1, sizeof(*arrays));
	sherd_java_manifest_entry *entries = sherd_arena_alloc(arena, g->variable_count + 1, sizeof(*entries));
	uint64_t at = SHERD_SDNB_HEAD + out->graph.size;
	if (!arrays || !entries)
		return sherd_fail_nomem(err);
	for (size_t i = 0; i < g->variable_count; i++) {
		const sherd_model_variable *v = &g->variables[i];
		if (v->array == SHERD_NO_ARRAY || s->arrays[v->array].bytes < SHERD_SAMEDIFF_INLINE)
			continue;
		const sherd_tensor *t = &s->arrays[v->array];
		TRY(check_description(v, t, err));
		at += -at & (SHERD_SDNB_ALIGN - 1);
		if (t->bytes > MOST - SHERD_SDNB_HEAD - SHERD_SDNB_ALIGN)
			return sherd_fail(err, SHERD_EUNSUPPORTED, "too-large",
			                  "%.128s alone has 2 GiB or more, which SameDiff cannot load: only a "
			                  "container (.sdc) holds it",
			                  v->name);
		if (at + t->bytes > MOST)
			return sherd_fail(err, SHERD_EUNSUPPORTED, "too-large",
			                  "with %.128s a file would have 2 GiB or more, which SameDiff cannot load: "
			                  "use (more) shards",
			                  v->name);
		entries[out->count] = (sherd_java_manifest_entry){v->name, at, t->bytes};
		arrays[out->count++] = v->array;
		at += t->bytes;
	}
	out->head.manifest = at;
	out->arrays = arrays;
	out->entries = entries;
	return SHERD_OK;
}

static int lay_out(const sherd_model *model, const sherd_samediff_source *s, sherd_arena *arena, sherd_sdnb_out *out,
                   sherd_error *err)
{
	SHERD_AUTO_BUF manifest = {0};
	*out = (sherd_sdnb_out){.model = model};
	TRY(sherd_samediff_encode(s, SHERD_SAMEDIFF_SDNB, arena, &out->graph, err));
	TRY(place_arrays(s, arena, out, err));
	TRY(sherd_java_manifest_encode(&manifest, out->entries, out->count, err));
	out->manifest = sherd_arena_copy(arena, manifest.data, manifest.len);
	out->head.manifest_bytes = manifest.len;
	out->size = out->head.manifest + manifest.len;
	return out->manifest ? SHERD_OK : sherd_fail_nomem(err);
}

int sherd_sdnb_lay_out(const sherd_model *model, const sherd_model_save_options *o, uint32_t files, sherd_arena *arena,
                       sherd_sdnb_out **out, sherd_error *err)
{
	sherd_samediff_source *sources;
	sherd_sdnb_out *made = sherd_arena_alloc(arena, files, sizeof(*made));
	if (!made)
		return sherd_fail_nomem(err);
	if (o->compress != SHERD_COMPRESS_NONE)
		return sherd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold", "%s is not written compressed",
		                  sherd_format_name(o->format));
	TRY(check_texts(model, err));
	TRY(sherd_sdnb_divide(model, o, files, arena, &sources, err));
	for (uint32_t i = 0; i < files; i++)
		TRY(lay_out(model, &sources[i], arena, &made[i], err));
	*out = made;
	return SHERD_OK;
}

static int write_bytes(sherd_writer *writer, const void *bytes, size_t len, sherd_meter *meter, sherd_error *err)
{
	TRY(sherd_writer_append(writer, bytes, len, err));
	return sherd_meter_add(meter, len, err);
}

static int write_graph(const sherd_sdnb_out *out, sherd_writer *writer, sherd_meter *meter, sherd_error *err)
{
	for (size_t i = 0; i < out->graph.piece_count; i++) {
		const sherd_samediff_piece *p = &out->graph.pieces[i];
		TRY(write_bytes(writer, p->bytes, p->len, meter, err));
		if (p->array == SHERD_NO_ARRAY)
			continue;
		const sherd_model_elements elements = {out->model, p->array, p->fortran, p->swap};
		TRY(sherd_model_elements_write(&elements, writer, meter, err));
	}
	return SHERD_OK;
}

int sherd_sdnb_write(const sherd_sdnb_out *out, sherd_writer *writer, sherd_meter *meter, sherd_error *err)
{
	static const uint8_t zeros[SHERD_SDNB_ALIGN];
	uint8_t head[SHERD_SDNB_HEAD];
	uint64_t at = SHERD_SDNB_HEAD + out->graph.size;
	sherd_sdnb_head_encode(&out->head, head);
	TRY(write_bytes(writer, head, sizeof(head), meter, err));
	TRY(write_graph(out, writer, meter, err));
	for (size_t i = 0; i < out->count; i++) {
		const sherd_model_elements elements = {.model = out->model, .array = out->arrays[i]};
		TRY(write_bytes(writer, zeros, (size_t)(out->entries[i].offset - at), meter, err));
		TRY(sherd_model_elements_write(&elements, writer, meter, err));
		at = out->entries[i].offset + out->entries[i].length;
	}
	return write_bytes(writer, out->manifest, (size_t)out->head.manifest_bytes, meter, err);
}
