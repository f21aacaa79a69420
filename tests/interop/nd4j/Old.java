import java.io.File;
import java.io.PrintStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.nd4j.autodiff.samediff.SDVariable;
import org.nd4j.autodiff.samediff.SameDiff;
import org.nd4j.linalg.api.buffer.DataBuffer;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.factory.Nd4j;
import org.nd4j.linalg.indexing.NDArrayIndex;

/* ND4J 1.0.0-beta2's and beta3's side of tools/interop-nd4j.
 *
 *	Old DIR OUT    makes models and arrays in DIR, writes what is in them to OUT
 *
 * OUT is JSON: for each file its arrays by name, with type, shape and values in C order. */
public final class Old {

	private static INDArray numbers(int seed, long... shape) {
		int n = 1;
		for (long d : shape)
			n *= (int) d;
		double[] v = new double[n];
		int state = seed;
		for (int i = 0; i < n; i++) {
			state = state * 1664525 + 1013904223;
			v[i] = (state >>> 24) / 256.0 - 0.5;
		}
		return Nd4j.create(v).reshape('c', shape);
	}

	/* Arrays in every order that these versions write. */
	private static Map<String, INDArray> arrays() {
		Map<String, INDArray> a = new LinkedHashMap<>();
		a.put("c_order", numbers(1, 3, 5));
		a.put("f_order", numbers(2, 3, 5).dup('f'));
		a.put("cube", numbers(3, 2, 3, 4).dup('f'));
		a.put("permuted", numbers(4, 2, 3, 4).permute(1, 2, 0));
		a.put("permuted_4d", numbers(5, 2, 3, 4, 5).permute(2, 0, 3, 1));
		a.put("transposed", numbers(6, 4, 7).transpose());
		a.put("row", numbers(7, 1, 6));
		a.put("column", numbers(8, 6, 1));
		a.put("scalar", Nd4j.trueScalar(1.5));
		a.put("vector", Nd4j.trueVector(new double[] {0.25, -8, 3}));
		a.put("copied_view", numbers(9, 4, 6).get(NDArrayIndex.interval(1, 3), NDArrayIndex.interval(0, 2, 6)).dup());
		return a;
	}

	/* Operations of the kinds that were given up later, and of those that were not. */
	private static SameDiff operations() {
		SameDiff sd = SameDiff.create();
		SDVariable w = sd.var("w", numbers(10, 3, 4)), b = sd.var("b", numbers(11, 3, 4).dup('f'));
		SDVariable t = sd.tanh("t", w);
		SDVariable more = t.add("more", 2.5);
		SDVariable sum = sd.sum("sum", more, 1);
		SDVariable product = sd.mmul("product", b, sd.transpose("turned", w));
		sd.max("max", product.sub("difference", sd.abs("size", product)), 0);
		sd.standardDeviation("std", sum, true, 0);
		return sd;
	}

	/* Operations that every version knows by name. */
	private static SameDiff custom() {
		SameDiff sd = SameDiff.create();
		SDVariable w = sd.var("w", numbers(12, 3, 4)), b = sd.var("b", numbers(13, 4, 2).dup('f'));
		SDVariable product = sd.mmul("product", w, b);
		sd.concat("out", 1, product, product);
		return sd;
	}

	private static String quote(String text) {
		return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
	}

	private static String tell(INDArray a) {
		List<String> values = new ArrayList<>();
		INDArray flat = a.dup('c');
		for (long i = 0; i < flat.length(); i++)
			values.add(quote(Double.toString(flat.data().getDouble(i))));
		return String.format("{\"dtype\":%s,\"shape\":%s,\"empty\":false,\"values\":[%s]}",
				quote(a.data().dataType().name()), Arrays.toString(a.shape()), String.join(",", values));
	}

	private static String join(Map<String, String> members) {
		List<String> list = new ArrayList<>();
		for (Map.Entry<String, String> e : members.entrySet())
			list.add(quote(e.getKey()) + ":" + e.getValue());
		return "{" + String.join(",", list) + "}";
	}

	private static String tell(SameDiff sd) {
		Map<String, String> members = new TreeMap<>();
		for (SDVariable v : sd.variables())
			if (v.getArr() != null)
				members.put(v.getVarName(), tell(v.getArr()));
		return join(members);
	}

	private static void makeModels(String folder, String type, Map<String, String> out) throws Exception {
		SameDiff arrays = SameDiff.create(), operations = operations(), custom = custom();
		for (Map.Entry<String, INDArray> e : arrays().entrySet())
			arrays.var(e.getKey(), e.getValue());
		arrays.asFlatFile(new File(folder, "arrays-" + type + ".fb"));
		out.put("arrays-" + type + ".fb", tell(arrays));
		operations.asFlatFile(new File(folder, "fresh-" + type + ".fb"));
		out.put("fresh-" + type + ".fb", tell(operations));
		operations.execAndEndResult();
		operations.asFlatFile(new File(folder, "run-" + type + ".fb"));
		out.put("run-" + type + ".fb", tell(operations));
		custom.execAndEndResult();
		custom.asFlatFile(new File(folder, "custom-" + type + ".fb"));
		out.put("custom-" + type + ".fb", tell(custom));
	}

	private static void makeArrays(String folder, String type, Map<String, String> out) throws Exception {
		for (Map.Entry<String, INDArray> e : arrays().entrySet()) {
			String name = e.getKey() + "-" + type;
			Nd4j.saveBinary(e.getValue(), new File(folder, name + ".bin"));
			out.put(name + ".bin", "{" + quote(name) + ":" + tell(e.getValue()) + "}");
		}
	}

	private static void make(String folder, String told) throws Exception {
		Map<String, String> out = new TreeMap<>();
		for (DataBuffer.Type type : new DataBuffer.Type[] {DataBuffer.Type.FLOAT, DataBuffer.Type.DOUBLE}) {
			Nd4j.setDataType(type);
			makeModels(folder, type.name().toLowerCase(), out);
			makeArrays(folder, type.name().toLowerCase(), out);
		}
		try (PrintStream stream = new PrintStream(told, "UTF-8")) {
			stream.println(join(out));
		}
	}

	/* These versions look for their operations in the jars of a URLClassLoader, which Java's own no longer is. */
	public static void main(String[] args) throws Exception {
		if (Old.class.getClassLoader() instanceof URLClassLoader) {
			make(args[0], args[1]);
			return;
		}
		List<URL> path = new ArrayList<>();
		for (String part : System.getProperty("java.class.path").split(File.pathSeparator))
			path.add(new File(part).toURI().toURL());
		URLClassLoader loader = new URLClassLoader(path.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
		Thread.currentThread().setContextClassLoader(loader);
		loader.loadClass("Old").getMethod("main", String[].class).invoke(null, (Object) args);
	}
}
