/* python/src/module.c - sherd._core. */
#include "ext.h"

int ext_handle_init(PyObject *module);
int ext_view_init(PyObject *module);

#define EXT_ROW(name) {#name, ext_##name, METH_VARARGS, NULL},
static PyMethodDef functions[] = {EXT_FUNCTIONS(EXT_ROW){NULL, NULL, 0, NULL}};

static int module_exec(PyObject *module)
{
	return ext_handle_init(module) < 0 || ext_view_init(module) < 0 ? -1 : 0;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)module_exec}, {0, NULL}};

static PyModuleDef definition = {
	PyModuleDef_HEAD_INIT,
	.m_name = "sherd._core",
	.m_doc = "The library's functions. Use the package instead: this may change with any version.",
	.m_methods = functions,
	.m_slots = slots,
};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void)
{
	return PyModuleDef_Init(&definition);
}
