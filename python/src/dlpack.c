/* python/src/dlpack.c - bytes as a DLPack capsule, for JAX, CuPy and whoever takes tensors by that protocol. */
#include "ext.h"

#include <stdlib.h>

/* DLPack's interface, in its unversioned form. */
typedef struct dl_device {
	int32_t type, id;
} dl_device;

typedef struct dl_type {
	uint8_t code, bits;
	uint16_t lanes;
} dl_type;

typedef struct dl_tensor {
	void *data;
	dl_device device;
	int32_t ndim;
	dl_type dtype;
	int64_t *shape, *strides;
	uint64_t byte_offset;
} dl_tensor;

typedef struct dl_managed {
	dl_tensor tensor;
	void *context;
	void (*deleter)(struct dl_managed *self);
} dl_managed;

enum { DL_CPU = 1, DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2, DL_BFLOAT = 4, DL_COMPLEX = 5, DL_BOOL = 6, DL_NONE = 255 };
/* Since DLPack 1.1. */
enum { DL_F8_E4M3FN = 10, DL_F8_E4M3FNUZ = 11, DL_F8_E5M2 = 12, DL_F8_E5M2FNUZ = 13, DL_F8_E8M0 = 14 };

typedef struct export
{
	dl_managed managed;
	Py_buffer buffer;
	int64_t shape[SHERD_MAX_DIMS];
}
export;

static uint8_t code_of(sherd_dtype dtype)
{
	switch (dtype) {
	case SHERD_BOOL: return DL_BOOL;
	case SHERD_U8:
	case SHERD_U16:
	case SHERD_U32:
	case SHERD_U64: return DL_UINT;
	case SHERD_I8:
	case SHERD_I16:
	case SHERD_I32:
	case SHERD_I64: return DL_INT;
	case SHERD_F16:
	case SHERD_F32:
	case SHERD_F64: return DL_FLOAT;
	case SHERD_BF16: return DL_BFLOAT;
	case SHERD_C64: return DL_COMPLEX;
	case SHERD_F8_E4M3: return DL_F8_E4M3FN;
	case SHERD_F8_E4M3FNUZ: return DL_F8_E4M3FNUZ;
	case SHERD_F8_E5M2: return DL_F8_E5M2;
	case SHERD_F8_E5M2FNUZ: return DL_F8_E5M2FNUZ;
	case SHERD_F8_E8M0: return DL_F8_E8M0;
	default: return DL_NONE;
	}
}

static void export_free(export *e)
{
	PyBuffer_Release(&e->buffer);
	free(e);
}

/* Whoever took the tensor may drop it on any thread. */
static void deleter(dl_managed *managed)
{
	PyGILState_STATE state = PyGILState_Ensure();
	export_free(managed->context);
	PyGILState_Release(state);
}

static void capsule_free(PyObject *capsule)
{
	if (!PyCapsule_IsValid(capsule, "dltensor")) /* somebody took it, and renamed the capsule */
		return;
	dl_managed *managed = PyCapsule_GetPointer(capsule, "dltensor");
	if (managed)
		export_free(managed->context);
}

PyObject *ext_dlpack(PyObject *self, PyObject *args)
{
	PyObject *object, *dims;
	const char *name;
	uint64_t *shape;
	(void)self;
	if (!PyArg_ParseTuple(args, "OsO:dlpack", &object, &name, &dims))
		return NULL;
	sherd_dtype dtype = ext_dtype(name);
	if (dtype == SHERD_DTYPE_NONE || code_of(dtype) == DL_NONE) {
		PyErr_Format(PyExc_BufferError, "DLPack has no type for %s", name);
		return NULL;
	}
	Py_ssize_t ndim = ext_numbers(&shape, dims);
	if (ndim < 0)
		return NULL;
	export *e = ndim <= SHERD_MAX_DIMS ? calloc(1, sizeof(*e)) : NULL;
	if (!e || PyObject_GetBuffer(object, &e->buffer, PyBUF_SIMPLE) < 0) {
		free(e);
		free(shape);
		return PyErr_Occurred() ? NULL : PyErr_NoMemory();
	}
	for (Py_ssize_t d = 0; d < ndim; d++)
		e->shape[d] = (int64_t)shape[d];
	free(shape);
	e->managed =
		(dl_managed){.tensor = {.data = e->buffer.buf,
	                                .device = {DL_CPU, 0},
	                                .ndim = (int32_t)ndim,
	                                .dtype = {code_of(dtype), (uint8_t)(8 * sherd_dtype_element_bytes(dtype)), 1},
	                                .shape = e->shape},
	                     .context = e,
	                     .deleter = deleter};
	PyObject *capsule = PyCapsule_New(&e->managed, "dltensor", capsule_free);
	if (!capsule)
		export_free(e);
	return capsule;
}
