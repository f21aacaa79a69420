/* format/pickle/judge.c - what is known of things that pickles name. A list of what is dangerous can never be whole: it
 * is for people who read it. What keeps them safe is that nothing is ever called. */
#include "format/pickle/pickle.h"

/* Recognised here. A name that ends in '.' stands for all below it. */
static const char *const harmless[] = {
	"collections.OrderedDict",
	"collections.defaultdict",
	"collections.Counter",
	"torch._utils._rebuild_tensor",
	"torch._utils._rebuild_tensor_v2",
	"torch._utils._rebuild_tensor_v3",
	"torch._utils._rebuild_parameter",
	"torch._utils._rebuild_parameter_with_state",
	"torch._utils._rebuild_sparse_tensor",
	"torch._utils._rebuild_sparse_csr_tensor",
	"torch._utils._rebuild_qtensor",
	"torch._utils._rebuild_meta_tensor_no_storage",
	"torch._utils._rebuild_wrapper_subclass",
	"torch._utils._rebuild_device_tensor_from_numpy",
	"torch._utils._rebuild_device_tensor_from_cpu_tensor",
	"torch._tensor._rebuild_from_type",
	"torch._tensor._rebuild_from_type_v2",
	"torch.nn.parameter.Parameter",
	"torch.nn.parameter.Buffer",
	"torch.Tensor",
	"torch._tensor.Tensor",
	"torch.Size",
	"torch.device",
	"torch.serialization._get_layout",
	"torch.storage.UntypedStorage",
	"torch.storage.TypedStorage",
	"torch.per_tensor_affine",
	"torch.per_channel_affine",
	"torch.per_tensor_symmetric",
	"torch.per_channel_symmetric",
	"_codecs.encode",
	"builtins.set",
	"builtins.frozenset",
	"builtins.complex",
	"builtins.dict",
	"builtins.list",
	"builtins.tuple",
	"builtins.int",
	"builtins.float",
	"builtins.bool",
	"builtins.str",
	"builtins.bytes",
	"builtins.bytearray",
	"builtins.slice",
	"builtins.range",
	"builtins.object",
	"__builtin__.set",
	"__builtin__.frozenset",
	"__builtin__.complex",
	"__builtin__.dict",
	"__builtin__.list",
	"__builtin__.tuple",
	"__builtin__.int",
	"__builtin__.long",
	"__builtin__.float",
	"__builtin__.bool",
	"__builtin__.str",
	"__builtin__.unicode",
	"__builtin__.bytearray",
	"__builtin__.slice",
	"__builtin__.object",
	"copy_reg._reconstructor",
	"copyreg._reconstructor",
	"numpy.dtype",
	"numpy.ndarray",
	"numpy.core.multiarray._reconstruct",
	"numpy.core.multiarray.scalar",
	"numpy._core.multiarray._reconstruct",
	"numpy._core.multiarray.scalar",
	"pathlib.PosixPath",
	"pathlib.Path",
	"pathlib.PurePosixPath",
	"pathlib.WindowsPath",
	"pathlib._local.PosixPath",
	"pathlib._local.Path",
	"pathlib._local.PurePosixPath",
	"argparse.Namespace",
	"datetime.datetime",
	"datetime.date",
	"datetime.timedelta",
	"datetime.timezone",
	"torch.distributed.checkpoint.metadata.",
	"torch.distributed.checkpoint.filesystem._StorageInfo",
	"torch.distributed.tensor.DTensor",
	"torch.distributed.tensor._dtensor_spec.",
	"torch.distributed.tensor.placement_types.",
	"torch.distributed.device_mesh.DeviceMesh",
	"torch.distributed.tensor._api.DTensor",
	"types.SimpleNamespace",
	"numpy.dtypes.",
	"numpy.random._pickle.",
};

/* Modules that run commands or code, or reach files and the network; all that lies in and below them. */
static const char *const modules[] = {
	"os",
	"posix",
	"nt",
	"posixpath",
	"ntpath",
	"subprocess",
	"_posixsubprocess",
	"commands",
	"popen2",
	"pty",
	"sys",
	"socket",
	"_socket",
	"ssl",
	"shutil",
	"runpy",
	"importlib",
	"imp",
	"pkgutil",
	"zipimport",
	"code",
	"codeop",
	"pickle",
	"_pickle",
	"cPickle",
	"cloudpickle",
	"dill",
	"joblib",
	"shelve",
	"marshal",
	"types",
	"ctypes",
	"_ctypes",
	"cffi",
	"multiprocessing",
	"threading",
	"_thread",
	"concurrent",
	"asyncio",
	"signal",
	"webbrowser",
	"antigravity",
	"http",
	"httplib",
	"urllib",
	"urllib2",
	"urllib3",
	"requests",
	"aiohttp",
	"ftplib",
	"smtplib",
	"telnetlib",
	"poplib",
	"imaplib",
	"nntplib",
	"xmlrpc",
	"socketserver",
	"tempfile",
	"glob",
	"fileinput",
	"io",
	"_io",
	"pip",
	"ensurepip",
	"venv",
	"distutils",
	"setuptools",
	"pydoc",
	"pdb",
	"bdb",
	"trace",
	"timeit",
	"profile",
	"cProfile",
	"_lsprof",
	"doctest",
	"unittest",
	"idlelib",
	"lib2to3",
	"turtle",
	"tkinter",
	"gc",
	"inspect",
	"linecache",
	"site",
	"sitecustomize",
	"operator",
	"_operator",
	"functools",
	"_functools",
	"itertools",
	"tarfile",
	"zipfile",
	"logging",
	"configparser",
	"sqlite3",
	"_sqlite3",
	"curses",
	"readline",
	"rlcompleter",
	"paramiko",
	"pexpect",
	"IPython",
	"numpy.testing",
	"numpy.f2py",
	"numpy.distutils",
	"torch.hub",
	"torch.utils.cpp_extension",
	"torch.utils.bottleneck",
	"torch.utils.collect_env",
	"torch.utils._config_module",
	"torch.utils.data",
	"torch._inductor",
	"torch._dynamo",
	"torch.fx",
	"torch.jit",
	"torch.package",
	"torch.ops",
	"torch._ops",
	"torch.classes",
	"torch.multiprocessing",
	"torch.distributed.elastic",
	"torch.distributed.run",
	"torch.distributed.launch",
	"torch.serialization.load",
	"torch.storage._load_from_bytes",
	"torch.load",
	"torch.save",
	"torch.compile",
	"torch.testing",
	"torch.onnx",
	"tensorflow",
	"keras",
	"_aix_support",
	"_osx_support",
	"_pyrepl",
	"nturl2path",
	"modulefinder",
	"pyclbr",
	"py_compile",
	"compileall",
	"cgitb",
	"xdrlib",
	"sched",
	"contextlib",
};

/* Of modules that have harmless things, too. */
static const char *const functions[] = {
	"eval",         "exec",     "execfile",   "compile", "open",   "file", "__import__", "getattr",
	"setattr",      "delattr",  "hasattr",    "globals", "locals", "vars", "input",      "raw_input",
	"breakpoint",   "apply",    "map",        "filter",  "reduce", "type", "super",      "classmethod",
	"staticmethod", "property", "memoryview", "help",    "exit",   "quit", "dir",        "__build_class__",
};

/* Is the name the module, or does it lie below it? */
static bool is_in(shd_str name, shd_str module)
{
	return name.len >= module.len && memcmp(name.ptr, module.ptr, module.len) == 0 &&
	       (name.len == module.len || name.ptr[module.len] == '.');
}

static bool is_builtin_danger(shd_str name)
{
	static const char *const places[] = {"builtins.", "__builtin__.", "__builtins__."};
	for (size_t i = 0; i < COUNT_OF(places); i++) {
		shd_str rest = {name.ptr + strlen(places[i]), name.len - strlen(places[i])};
		if (!shd_str_starts(name, places[i]))
			continue;
		for (size_t k = 0; k < COUNT_OF(functions); k++)
			if (is_in(rest, shd_str_of(functions[k])))
				return true;
		return memchr(rest.ptr, '.', rest.len) != NULL; /* an attribute of whatever it is */
	}
	return false;
}

/* torch.FloatStorage, torch.cuda.HalfStorage, torch.float32: types of elements. */
static bool is_torch_type(shd_str name)
{
	static const char *const types[] = {"float", "bfloat", "int",  "uint", "bool",  "complex", "half",   "double",
	                                    "quint", "qint",   "bits", "long", "short", "sparse_", "strided"};
	if (!shd_str_starts(name, "torch."))
		return false;
	shd_str rest = {name.ptr + 6, name.len - 6};
	if (shd_str_starts(rest, "cuda."))
		rest = (shd_str){rest.ptr + 5, rest.len - 5};
	if (memchr(rest.ptr, '.', rest.len))
		return false;
	if (shd_str_ends(rest, "Storage") || shd_str_ends(rest, "Tensor"))
		return true;
	for (size_t i = 0; i < COUNT_OF(types); i++)
		if (shd_str_starts(rest, types[i]))
			return true;
	return false;
}

shd_pickle_verdict shd_pickle_judge(const char *global)
{
	shd_str name = shd_str_of(global);
	for (size_t i = 0; i < COUNT_OF(harmless); i++) {
		shd_str known = shd_str_of(harmless[i]);
		bool below = known.ptr[known.len - 1] == '.' && shd_str_starts(name, known.ptr) &&
		             !memchr(name.ptr + known.len, '.', name.len - known.len);
		if (below || shd_str_is(name, known.ptr))
			return SHD_PICKLE_HARMLESS;
	}
	for (size_t i = 0; i < COUNT_OF(modules); i++)
		if (is_in(name, shd_str_of(modules[i])))
			return SHD_PICKLE_DANGEROUS;
	if (is_builtin_danger(name) || shd_str_starts(name, "copyreg.extension."))
		return SHD_PICKLE_DANGEROUS;
	return is_torch_type(name) ? SHD_PICKLE_HARMLESS : SHD_PICKLE_UNKNOWN;
}

shd_pickle_verdict shd_pickle_judge_use(const shd_pickle_global *global)
{
	bool getattr =
		strcmp(global->name, "builtins.getattr") == 0 || strcmp(global->name, "__builtin__.getattr") == 0;
	return getattr && global->called && !global->wild ? SHD_PICKLE_HARMLESS : shd_pickle_judge(global->name);
}
