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

static bool ends_like(const shd_evidence *e, const char *ending)
{
	return shd_str_ends(shd_str_of(e->key), ending);
}

/* ---- containers */

/* Are there shards of a container that this key names, whether or not they are a set? */
static int probe_container(shd_evidence *e, sherd_error *err)
{
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	container_listing list = {0};
	const char *base;
	if (!*e->key)
		return 0;
	TRY(shd_container_base(e->store, e->key, &arena, &base, err));
	TRY(shd_container_list(e->store, base, &arena, &list, err));
	return list.count > 0;
}

static bool is_damaged_container(const shd_evidence *e)
{
	return ends_like(e, SHD_CONTAINER_SUFFIX);
}

/* ---- graphs, which have no magic */

static int probe_samediff(shd_evidence *e, sherd_error *err)
{
	SHD_DONE(shd_flatbuf_done) shd_flatbuf fb = {0};
	TRY(shd_flatbuf_open(&fb, shd_samediff_fetch, e->reader, e->size, err));
	bool found = shd_samediff_probe(&fb);
	int rc = shd_flatbuf_check(&fb, NULL);
	return rc == SHERD_EIO || rc == SHERD_ENOMEM ? shd_flatbuf_check(&fb, err) : found;
}

static bool is_damaged_samediff(const shd_evidence *e)
{
	return e->size && ends_like(e, GRAPH_SUFFIX);
}

/* ---- SDNB and archives of it */

static int probe_shards(shd_evidence *e, sherd_error *err)
{
	bool found;
	if (!*e->key)
		return 0;
	TRY(shd_sdnb_has_shards(e->store, e->key, &found, err));
	return found;
}

/* By the names that SameDiff gives, else by what is in it. */
static int probe_archive(shd_evidence *e, sherd_error *err)
{
	const shd_str *names;
	size_t count;
	bool found;
	if (!shd_str_starts(e->first, SHD_ZIP_MAGIC))
		return 0;
	TRY(shd_evidence_zip(e, &names, &count, err));
	for (size_t i = 0; i < count; i++) {
		shd_sdnb_name shard;
		if (shd_str_is(names[i], "model") || shd_str_is(names[i], "model" SHD_SDNB_SUFFIX) ||
		    shd_sdnb_name_parse(names[i], &shard))
			return 1;
	}
	TRY(shd_sdz_has_model(e->store, e->key, &found, err));
	return found;
}

static int probe_nd4j(shd_evidence *e, sherd_error *err)
{
	(void)err;
	return shd_nd4j_probe((const uint8_t *)e->first.ptr, e->first.len);
}

/* ---- entries */

/* Java knows neither floats of 8 bits or fewer nor complex numbers. */
#define GRAPH_DTYPES (SHD_DTYPES_ALL & ~(SHD_DTYPES_NARROW | SHERD_DTYPE_BIT(SHERD_C64)))
#define SDNB_DTYPES (GRAPH_DTYPES & ~SHERD_DTYPE_BIT(SHERD_UTF8))

#define HOLDS (SHERD_HOLDS_GRAPH | SHERD_HOLDS_TRAINING | SHERD_HOLDS_MANY)

const shd_format_entry shd_format_container = {
	.info = {.id = SHERD_FORMAT_SAMEDIFF_CONTAINER,
                 .kind = SHERD_KIND_MODEL,
                 .name = "samediff-container",
                 .short_name = "sdc",
                 .noun = "a SameDiff container",
                 .endings = {{SHD_CONTAINER_SUFFIX, SHERD_ENDING_SHARDS}},
                 .written = true,
                 .holds = HOLDS | SHERD_HOLDS_PAIRS | SHERD_HOLDS_TYPED | SHERD_HOLDS_BLOCKS | SHERD_HOLDS_OPAQUE,
                 .takes = SHERD_TAKES_SHARDS | SHERD_TAKES_COMPRESSION | SHERD_TAKES_REPLACE | SHERD_TAKES_DIGEST,
                 .dtypes = SHD_DTYPES_ALL,
                 .most_dims = SHERD_MAX_DIMS},
	.magic = {SHD_CONTAINER_MAGIC, sizeof(SHD_CONTAINER_MAGIC) - 1},
	.is_damaged = is_damaged_container,
	.probe_set = probe_container,
	.open = shd_bundle_open_model,
	.open_model = shd_model_open_container,
	.verify = shd_model_verify,
	.write = shd_write_model,
	.save_model = shd_model_save_container,
};

const shd_format_entry shd_format_samediff = {
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
	.open = shd_bundle_open_model,
	.open_model = shd_model_open_samediff,
	.verify = shd_model_verify,
	.write = shd_write_model,
	.save_model = shd_model_save_samediff,
};

const shd_format_entry shd_format_sdnb = {
	.info = {.id = SHERD_FORMAT_SDNB,
                 .kind = SHERD_KIND_MODEL,
                 .name = "sdnb",
                 .noun = "an SDNB model",
                 .endings = {{SHD_SDNB_SUFFIX, SHERD_ENDING_SHARDS}},
                 .written = true,
                 .holds = HOLDS | SHERD_HOLDS_PAIRS | SHERD_HOLDS_TYPED,
                 .takes = SHERD_TAKES_SHARDS | SHERD_TAKES_REPLACE,
                 .dtypes = SDNB_DTYPES,
                 .most_dims = SHERD_MAX_DIMS},
	.magic = {SHD_SDNB_MAGIC, sizeof(SHD_SDNB_MAGIC) - 1},
	.probe_set = probe_shards,
	.open = shd_bundle_open_model,
	.open_model = shd_model_open_sdnb,
	.verify = shd_model_verify,
	.write = shd_write_model,
	.save_model = shd_model_save_sdnb,
};

const shd_format_entry shd_format_sdz = {
	.info = {.id = SHERD_FORMAT_SDZ,
                 .kind = SHERD_KIND_MODEL,
                 .name = "sdz",
                 .noun = "a ZIP archive of an SDNB model",
                 .endings = {{".sdz", SHERD_ENDING_OBJECT}},
                 .written = true,
                 .holds = HOLDS | SHERD_HOLDS_PAIRS | SHERD_HOLDS_TYPED,
                 .takes = SHERD_TAKES_SHARDS | SHERD_TAKES_REPLACE,
                 .dtypes = SDNB_DTYPES,
                 .most_dims = SHERD_MAX_DIMS},
	.probe = probe_archive,
	.open = shd_bundle_open_model,
	.open_model = shd_model_open_sdz,
	.verify = shd_sdz_verify,
	.write = shd_write_model,
	.save_model = shd_model_save_sdz,
};

const shd_format_entry shd_format_nd4j_array = {
	.info = {.id = SHERD_FORMAT_ND4J_ARRAY,
                 .kind = SHERD_KIND_TENSORS,
                 .name = "nd4j-array",
                 .noun = "an array of ND4J",
                 .dtypes = GRAPH_DTYPES,
                 .most_dims = SHERD_MAX_DIMS},
	.probe = probe_nd4j,
	.open = shd_bundle_open_nd4j,
};
