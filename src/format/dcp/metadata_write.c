#include "format/dcp/metadata.h"
#include "format/pickle/write.h"
#include "format/torch/write.h"

#define CHECKPOINT "torch.distributed.checkpoint."

/* A new object of a class of torch's metadata; its state follows, then 'b'. */
static void metadata_write_begin_object(shd_pickle_writer *w, const char *module, const char *name)
{
	shd_pickle_put_global(w, module, name);
	shd_pickle_put_op(w, ')');
	shd_pickle_put_op(w, 0x81);
}

/* The same, with a state that is a dictionary. */
static void begin_state(shd_pickle_writer *w, const char *module, const char *name)
{
	metadata_write_begin_object(w, module, name);
	shd_pickle_put_op(w, '}');
	shd_pickle_put_op(w, '(');
}

static void end_state(shd_pickle_writer *w)
{
	shd_pickle_put_op(w, 'u');
	shd_pickle_put_op(w, 'b');
}

static void put_size(shd_pickle_writer *w, const uint64_t *numbers, size_t count)
{
	shd_pickle_put_global(w, "torch", "Size");
	shd_pickle_put_numbers(w, numbers, count);
	shd_pickle_put_op(w, 0x85);
	shd_pickle_put_op(w, 'R');
}

/* Type, layout, gradient, order of memory, pinned, strides. */
static void metadata_write_put_properties(shd_pickle_writer *w, const sherd_tensor *t, const uint64_t *strides)
{
	metadata_write_begin_object(w, CHECKPOINT "metadata", "TensorProperties");
	shd_pickle_put_op(w, '(');
	shd_pickle_put_global(w, "torch", shd_torch_dtype_of(t)->name);
	shd_pickle_put_global(w, "torch.serialization", "_get_layout");
	shd_pickle_put_often(w, "torch.strided");
	shd_pickle_put_op(w, 0x85);
	shd_pickle_put_op(w, 'R');
	shd_pickle_put_bool(w, false);
	shd_pickle_put_global(w, CHECKPOINT "metadata", "_MEM_FORMAT_ENCODING");
	shd_pickle_put_numbers(w, &(const uint64_t){0}, 1);
	shd_pickle_put_op(w, 'R');
	shd_pickle_put_bool(w, false);
	shd_pickle_put_numbers(w, strides, t->ndim);
	shd_pickle_put_op(w, 't');
	shd_pickle_put_op(w, 'b');
}

/* A tensor that is one chunk. */
static void put_tensor_metadata(shd_pickle_writer *w, const sherd_tensor *t)
{
	static const uint64_t zeros[SHERD_MAX_DIMS];
	uint64_t shape[SHERD_MAX_DIMS], strides[SHERD_MAX_DIMS];
	shd_torch_shape_of(t, shape, strides);
	begin_state(w, CHECKPOINT "metadata", "TensorStorageMetadata");
	shd_pickle_put_often(w, "properties");
	metadata_write_put_properties(w, t, strides);
	shd_pickle_put_often(w, "size");
	put_size(w, shape, t->ndim);
	shd_pickle_put_often(w, "chunks");
	shd_pickle_put_op(w, ']');
	begin_state(w, CHECKPOINT "metadata", "ChunkStorageMetadata");
	shd_pickle_put_often(w, "offsets");
	put_size(w, zeros, t->ndim);
	shd_pickle_put_often(w, "sizes");
	put_size(w, shape, t->ndim);
	end_state(w);
	shd_pickle_put_op(w, 'a');
	end_state(w);
}

static void put_place(shd_pickle_writer *w, const shd_dcp_written *e)
{
	static const uint64_t zeros[SHERD_MAX_DIMS];
	begin_state(w, CHECKPOINT "metadata", "MetadataIndex");
	shd_pickle_put_often(w, "fqn");
	shd_pickle_put_text(w, e->name);
	shd_pickle_put_often(w, "index");
	if (e->tensor)
		shd_pickle_put_int(w, 0);
	else
		shd_pickle_put_op(w, 'N');
	if (e->tensor) {
		shd_pickle_put_often(w, "offset");
		put_size(w, zeros, e->tensor->ndim);
	}
	end_state(w);
	begin_state(w, CHECKPOINT "filesystem", "_StorageInfo");
	shd_pickle_put_often(w, "relative_path");
	shd_pickle_put_often(w, e->file);
	shd_pickle_put_often(w, "offset");
	shd_pickle_put_int(w, e->offset);
	shd_pickle_put_often(w, "length");
	shd_pickle_put_int(w, e->length);
	end_state(w);
}

/* A dictionary under a key of the state that is open. */
static void begin_dict(shd_pickle_writer *w, const char *key)
{
	shd_pickle_put_text(w, key);
	shd_pickle_put_op(w, '}');
	shd_pickle_put_op(w, '(');
}

int shd_dcp_metadata_encode(const shd_dcp_written *entries, size_t count, shd_buf *out, sherd_error *err)
{
	SHD_DONE(shd_pickle_writer_done) shd_pickle_writer w;
	shd_pickle_writer_init(&w, out, 2);
	begin_state(&w, CHECKPOINT "metadata", "Metadata");
	begin_dict(&w, "state_dict_metadata");
	for (size_t i = 0; i < count; i++) {
		shd_pickle_put_text(&w, entries[i].name);
		if (entries[i].tensor) {
			put_tensor_metadata(&w, entries[i].tensor);
		} else {
			metadata_write_begin_object(&w, CHECKPOINT "metadata", "BytesStorageMetadata");
		}
	}
	shd_pickle_put_op(&w, 'u');
	/* Names are keys of a flat dictionary. */
	begin_dict(&w, "planner_data");
	for (size_t i = 0; i < count; i++) {
		shd_pickle_put_text(&w, entries[i].name);
		shd_pickle_put_text(&w, entries[i].name);
		shd_pickle_put_op(&w, 0x85);
	}
	shd_pickle_put_op(&w, 'u');
	begin_dict(&w, "storage_data");
	for (size_t i = 0; i < count; i++)
		put_place(&w, &entries[i]);
	shd_pickle_put_op(&w, 'u');
	shd_pickle_put_text(&w, "storage_meta");
	shd_pickle_put_op(&w, 'N');
	shd_pickle_put_text(&w, "version");
	shd_pickle_put_text(&w, "1.0.0");
	end_state(&w);
	return shd_pickle_writer_end(&w, err);
}
