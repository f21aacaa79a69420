#include "engine/model/format.h"

#include "engine/model/container_set.h"
#include "engine/model/model.h"
#include "engine/model/samediff.h"
#include "engine/model/save.h"
#include "engine/model/sdnb.h"
#include "engine/model/sdz.h"
#include "engine/model/verify.h"
#include "format/zip.h"

#define GRAPH_SUFFIX ".fb"

static bool ends_like(const sherd_evidence *e, const char *ending)
{
	return sherd_str_ends(sherd_str_of(e->key), ending);
}

/* ---- containers */

/* Are there shards of a container that this key names, whether or not they are a set? */
static int probe_container(sherd_evidence *e, sherd_error *err)
{
	sherd_arena arena = {0};
	container_listing list = {0};
	const char *base;
	if (!*e->key)
		return 0;
	int rc = sherd_container_base(e->store, e->key, &arena, &base, err);
	if (rc == SHERD_OK)
		rc = sherd_container_list(e->store, base, &arena, &list, err);
	sherd_arena_done(&arena);
	return rc < 0 ? rc : list.count > 0;
}

static bool is_damaged_container(const sherd_evidence *e)
{
	return ends_like(e, SHERD_CONTAINER_SUFFIX);
}

/* ---- graphs, which have no magic */

static int probe_samediff(sherd_evidence *e, sherd_error *err)
{
	sherd_flatbuf fb;
	TRY(sherd_flatbuf_open(&fb, sherd_samediff_fetch, e->reader, e->size, err));
	bool found = sherd_samediff_probe(&fb);
	int rc = sherd_flatbuf_check(&fb, NULL);
	if (rc == SHERD_EIO || rc == SHERD_ENOMEM)
		rc = sherd_flatbuf_check(&fb, err);
	else
		rc = found;
	sherd_flatbuf_done(&fb);
	return rc;
}

static bool is_damaged_samediff(const sherd_evidence *e)
{
	return e->size && ends_like(e, GRAPH_SUFFIX);
}

/* ---- SDNB and archives of it */

static int probe_shards(sherd_evidence *e, sherd_error *err)
{
	bool found;
	if (!*e->key)
		return 0;
	TRY(sherd_sdnb_has_shards(e->store, e->key, &found, err));
	return found;
}

/* By the names that SameDiff gives, else by what is in it. */
static int probe_archive(sherd_evidence *e, sherd_error *err)
{
	const sherd_str *names;
	size_t count;
	bool found;
	if (!sherd_str_starts(e->first, SHERD_ZIP_MAGIC))
		return 0;
	TRY(sherd_evidence_zip(e, &names, &count, err));
	for (size_t i = 0; i < count; i++) {
		sherd_sdnb_name shard;
		if (sherd_str_is(names[i], "model") || sherd_str_is(names[i], "model" SHERD_SDNB_SUFFIX) ||
		    sherd_sdnb_name_parse(names[i], &shard))
			return 1;
	}
	TRY(sherd_sdz_has_model(e->store, e->key, &found, err));
	return found;
}

static int probe_nd4j(sherd_evidence *e, sherd_error *err)
{
	(void)err;
	return sherd_nd4j_probe((const uint8_t *)e->first.ptr, e->first.len);
}

/* ---- entries */

/* Java knows neither 8-bit floats nor complex numbers. */
#define GRAPH_DTYPES        \
	(SHERD_DTYPES_ALL & \
	 ~(SHERD_DTYPE_BIT(SHERD_F8_E4M3) | SHERD_DTYPE_BIT(SHERD_F8_E5M2) | SHERD_DTYPE_BIT(SHERD_C64)))
#define SDNB_DTYPES (GRAPH_DTYPES & ~SHERD_DTYPE_BIT(SHERD_UTF8))

#define HOLDS (SHERD_HOLDS_GRAPH | SHERD_HOLDS_TRAINING | SHERD_HOLDS_MANY)

const sherd_format_entry sherd_format_container = {
	.info = {.id = SHERD_FORMAT_SAMEDIFF_CONTAINER,
                 .kind = SHERD_KIND_MODEL,
                 .name = "samediff-container",
                 .short_name = "sdc",
                 .noun = "a SameDiff container",
                 .endings = {{SHERD_CONTAINER_SUFFIX, SHERD_ENDING_SHARDS}},
                 .written = true,
                 .holds = HOLDS | SHERD_HOLDS_PAIRS,
                 .takes = SHERD_TAKES_SHARDS | SHERD_TAKES_COMPRESSION | SHERD_TAKES_REPLACE,
                 .dtypes = SHERD_DTYPES_ALL,
                 .most_dims = SHERD_MAX_DIMS},
	.magic = {SHERD_CONTAINER_MAGIC, sizeof(SHERD_CONTAINER_MAGIC) - 1},
	.is_damaged = is_damaged_container,
	.probe_set = probe_container,
	.open = sherd_bundle_open_model,
	.open_model = sherd_model_open_container,
	.verify = sherd_model_verify,
	.write = sherd_write_model,
	.save_model = sherd_model_save_container,
};

const sherd_format_entry sherd_format_samediff = {
	.info = {.id = SHERD_FORMAT_SAMEDIFF_FLATBUFFERS,
                 .kind = SHERD_KIND_MODEL,
                 .name = "samediff-flatbuffers",
                 .short_name = "fb",
                 .noun = "a SameDiff graph",
                 .endings = {{GRAPH_SUFFIX, SHERD_ENDING_OBJECT}},
                 .written = true,
                 .holds = HOLDS,
                 .takes = SHERD_TAKES_REPLACE,
                 .dtypes = GRAPH_DTYPES,
                 .most_dims = SHERD_MAX_DIMS},
	.probe = probe_samediff,
	.is_damaged = is_damaged_samediff,
	.open = sherd_bundle_open_model,
	.open_model = sherd_model_open_samediff,
	.verify = sherd_model_verify,
	.write = sherd_write_model,
	.save_model = sherd_model_save_samediff,
};

const sherd_format_entry sherd_format_sdnb = {
	.info = {.id = SHERD_FORMAT_SDNB,
                 .kind = SHERD_KIND_MODEL,
                 .name = "sdnb",
                 .noun = "an SDNB model",
                 .endings = {{SHERD_SDNB_SUFFIX, SHERD_ENDING_SHARDS}},
                 .written = true,
                 .holds = HOLDS | SHERD_HOLDS_PAIRS,
                 .takes = SHERD_TAKES_SHARDS | SHERD_TAKES_REPLACE,
                 .dtypes = SDNB_DTYPES,
                 .most_dims = SHERD_MAX_DIMS},
	.magic = {SHERD_SDNB_MAGIC, sizeof(SHERD_SDNB_MAGIC) - 1},
	.probe_set = probe_shards,
	.open = sherd_bundle_open_model,
	.open_model = sherd_model_open_sdnb,
	.verify = sherd_model_verify,
	.write = sherd_write_model,
	.save_model = sherd_model_save_sdnb,
};

const sherd_format_entry sherd_format_sdz = {
	.info = {.id = SHERD_FORMAT_SDZ,
                 .kind = SHERD_KIND_MODEL,
                 .name = "sdz",
                 .noun = "a ZIP archive of an SDNB model",
                 .endings = {{".sdz", SHERD_ENDING_OBJECT}},
                 .written = true,
                 .holds = HOLDS | SHERD_HOLDS_PAIRS,
                 .takes = SHERD_TAKES_SHARDS | SHERD_TAKES_REPLACE,
                 .dtypes = SDNB_DTYPES,
                 .most_dims = SHERD_MAX_DIMS},
	.probe = probe_archive,
	.open = sherd_bundle_open_model,
	.open_model = sherd_model_open_sdz,
	.verify = sherd_sdz_verify,
	.write = sherd_write_model,
	.save_model = sherd_model_save_sdz,
};

const sherd_format_entry sherd_format_nd4j_array = {
	.info = {.id = SHERD_FORMAT_ND4J_ARRAY,
                 .kind = SHERD_KIND_TENSORS,
                 .name = "nd4j-array",
                 .noun = "an array of ND4J",
                 .dtypes = GRAPH_DTYPES,
                 .most_dims = SHERD_MAX_DIMS},
	.probe = probe_nd4j,
	.open = sherd_bundle_open_nd4j,
};
