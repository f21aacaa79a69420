import java.io.File;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.nd4j.autodiff.samediff.SDVariable;
import org.nd4j.autodiff.samediff.SameDiff;
import org.nd4j.autodiff.samediff.TrainingConfig;
import org.nd4j.autodiff.samediff.VariableType;
import org.nd4j.linalg.api.buffer.DataType;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.api.ops.impl.layers.convolution.config.Conv2DConfig;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.factory.Nd4j;
import org.nd4j.linalg.learning.GradientUpdater;
import org.nd4j.linalg.learning.config.Adam;

/* ND4J's side of tools/interop-nd4j.
 *
 *	Models make DIR OUT    makes models in DIR, writes what is in them to OUT
 *	Models show OUT FILE…  loads models, writes what is in them to OUT
 *
 * OUT is JSON: for each model its arrays, what it computes, and its weights after some more training. */
public final class Models {

	/* Numbers that look random and are the same everywhere. */
	private static INDArray numbers(int seed, long... shape) {
		int n = 1;
		for (long d : shape)
			n *= (int) d;
		float[] v = new float[n];
		int state = seed;
		for (int i = 0; i < n; i++) {
			state = state * 1664525 + 1013904223;
			v[i] = ((state >>> 8) / (float) (1 << 24) - 0.5f);
		}
		return Nd4j.create(v, shape, 'c');
	}

	/* The second dimension of a placeholder that has two; 0 if there is none such. */
	private static int width(SameDiff sd, String name) {
		SDVariable v = sd.hasVariable(name) ? sd.getVariable(name) : null;
		boolean fits = v != null && v.isPlaceHolder() && v.placeholderShape() != null && v.placeholderShape().length == 2;
		return fits ? (int) v.placeholderShape()[1] : 0;
	}

	private static DataSet data(SameDiff sd) {
		int classes = width(sd, "label");
		INDArray labels = Nd4j.zeros(DataType.FLOAT, 6, classes);
		for (int i = 0; i < 6; i++)
			labels.putScalar(i, i % classes, 1);
		return new DataSet(numbers(11, 6, width(sd, "in")), labels);
	}

	private static SameDiff network() {
		SameDiff sd = SameDiff.create();
		SDVariable in = sd.placeHolder("in", DataType.FLOAT, -1, 4);
		SDVariable label = sd.placeHolder("label", DataType.FLOAT, -1, 3);
		SDVariable w0 = sd.var("w0", numbers(1, 4, 8)), b0 = sd.var("b0", numbers(2, 8));
		SDVariable w1 = sd.var("w1", numbers(3, 8, 3).dup('f')), b1 = sd.var("b1", numbers(4, 3));
		SDVariable hidden = sd.math().tanh("hidden", in.mmul(w0).add(b0));
		SDVariable out = sd.nn().softmax("out", hidden.mmul(w1).add(b1), 1);
		sd.loss().logLoss("loss", label, out);
		sd.setLossVariables("loss");
		sd.setTrainingConfig(new TrainingConfig.Builder().updater(new Adam(0.01)).dataSetFeatureMapping("in")
				.dataSetLabelMapping("label").build());
		return sd;
	}

	private static void train(SameDiff sd, int steps) {
		for (int i = 0; i < steps; i++)
			sd.fit(data(sd));
	}

	/* Operations of many kinds: with properties, scalars, dimensions, flags, names. */
	private static SameDiff operations() {
		SameDiff sd = SameDiff.create();
		SDVariable in = sd.placeHolder("in", DataType.FLOAT, -1, 4);
		SDVariable image = sd.reshape("image", in, -1, 1, 2, 2);
		SDVariable kernel = sd.constant("kernel", numbers(5, 1, 1, 1, 2));
		SDVariable conv = sd.cnn().conv2d("conv", image, kernel,
				Conv2DConfig.builder().kH(1).kW(1).sH(1).sW(1).build());
		SDVariable flat = conv.reshape(-1, 8);
		SDVariable mean = flat.mean("mean", true, 1);
		SDVariable more = flat.sub(mean).mul(2.5).add("more", 0.125);
		SDVariable clipped = sd.math().abs("abs", more).pow(1.5);
		SDVariable reduced = sd.max("max", clipped, 1).add(sd.standardDeviation("std", more, true, 1));
		SDVariable joined = sd.concat("joined", 1, more, clipped);
		SDVariable large = joined.gt("large", 0.5).castTo("cast", DataType.FLOAT);
		SDVariable top = sd.ifCond("either", null, s -> s.any(joined.gt(100)), s -> joined.mul(2), s -> joined.add(1));
		sd.math().add("sum", top.sum(1), large.sum(1).add(reduced)).rename("out");
		return sd;
	}

	/* M2.1 writes these and cannot load them. */
	private static SameDiff unsigned() {
		SameDiff sd = SameDiff.create();
		INDArray values = Nd4j.createFromArray(0.0, 1.0, 2.0, 100.0, 255.0, 40000.0);
		for (DataType type : new DataType[] {DataType.UINT32, DataType.UINT64})
			constant(sd, type.name().toLowerCase(), values.castTo(type));
		return sd;
	}

	private static void constant(SameDiff sd, String name, INDArray value) {
		sd.constant(name, value);
	}

	/* An array of each type, and of each shape that is special. */
	private static SameDiff arrays() {
		SameDiff sd = SameDiff.create();
		INDArray signed = Nd4j.createFromArray(-2.0, -1.0, 0.0, 1.0, 2.0, 100.0);
		for (DataType type : new DataType[] {DataType.DOUBLE, DataType.FLOAT, DataType.HALF, DataType.BFLOAT16,
				DataType.INT64, DataType.INT32, DataType.INT16, DataType.INT8})
			constant(sd, type.name().toLowerCase(), signed.castTo(type));
		constant(sd, "ubyte", Nd4j.createFromArray(0, 1, 127, 128, 255).castTo(DataType.UBYTE));
		constant(sd, "uint16", Nd4j.createFromArray(0, 1, 258, 40000).castTo(DataType.UINT16));
		constant(sd, "bool", Nd4j.createFromArray(true, false, true));
		constant(sd, "c_order", numbers(6, 3, 5));
		constant(sd, "f_order", numbers(6, 3, 5).dup('f'));
		constant(sd, "f_order_3d", numbers(7, 2, 3, 4).castTo(DataType.DOUBLE).dup('f'));
		constant(sd, "f_order_int16", Nd4j.createFromArray(new short[] {1, 2, 3, 4, 5, 6}).reshape(2, 3).dup('f'));
		constant(sd, "view", numbers(8, 4, 6).get(org.nd4j.linalg.indexing.NDArrayIndex.interval(1, 3),
				org.nd4j.linalg.indexing.NDArrayIndex.interval(0, 2, 6)));
		constant(sd, "ones", Nd4j.ones(DataType.FLOAT, 1, 3, 1));
		constant(sd, "scalar", Nd4j.scalar(1.5f));
		constant(sd, "scalar_long", Nd4j.scalar(-7L));
		constant(sd, "nothing", Nd4j.empty(DataType.INT64));
		constant(sd, "no_rows", Nd4j.create(DataType.FLOAT, 0, 3));
		constant(sd, "special", Nd4j.createFromArray(Float.NaN, Float.POSITIVE_INFINITY, -0.0f, Float.MIN_VALUE));
		constant(sd, "text", Nd4j.create("one", "", "three and more"));
		constant(sd, "texts", Nd4j.create(Arrays.asList("a", "bc", "def", "g"), 2, 2));
		constant(sd, "one_text", Nd4j.scalar("alone"));
		sd.placeHolder("asked", DataType.DOUBLE, -1, 7);
		return sd;
	}

	/* Lists of arrays, which only M2.1 has. */
	private static SameDiff sequences() {
		SameDiff sd = SameDiff.create();
		sd.createSequence("list", new INDArray[] {numbers(9, 2, 2), numbers(10, 3), Nd4j.scalar(4f)});
		sd.createSequence("one", new INDArray[] {numbers(12, 2, 3).dup('f')});
		constant(sd, "beside", numbers(13, 2));
		return sd;
	}

	/* ---- telling */

	private static String quote(String text) {
		StringBuilder b = new StringBuilder("\"");
		for (char c : text.toCharArray())
			b.append(c == '"' || c == '\\' || c < ' ' ? String.format("\\u%04x", (int) c) : String.valueOf(c));
		return b.append('"').toString();
	}

	private static String value(INDArray a, long i) {
		switch (a.dataType()) {
		case UTF8:
			return quote(a.getString(i));
		case LONG:
		case INT:
		case SHORT:
		case BYTE:
		case UBYTE:
		case UINT16:
		case UINT32:
		case UINT64:
			return Long.toString(a.getLong(i));
		default:
			return quote(Double.toString(a.getDouble(i)));
		}
	}

	/* Values in C order, whatever the array's own. */
	private static String tell(INDArray a) {
		List<String> values = new ArrayList<>();
		INDArray flat = a.isEmpty() || a.dataType() == DataType.UTF8 || a.ordering() == 'c' && !a.isView() ? a : a.dup('c');
		for (long i = 0; !a.isEmpty() && i < a.length(); i++)
			values.add(value(flat, i));
		return String.format("{\"dtype\":%s,\"shape\":%s,\"order\":%s,\"empty\":%s,\"values\":[%s]}",
				quote(a.dataType().name()), Arrays.toString(a.shape()), quote(String.valueOf(a.ordering())), a.isEmpty(),
				String.join(",", values));
	}

	private static String join(Map<String, String> members) {
		List<String> list = new ArrayList<>();
		for (Map.Entry<String, String> e : members.entrySet())
			list.add(quote(e.getKey()) + ":" + e.getValue());
		return "{" + String.join(",", list) + "}";
	}

	private static String tellVariables(SameDiff sd) {
		Map<String, String> members = new TreeMap<>();
		for (SDVariable v : sd.variables()) {
			boolean held = v.getVariableType() == VariableType.VARIABLE || v.getVariableType() == VariableType.CONSTANT;
			INDArray a = held ? v.getArr() : null;
			String shape = v.getVariableType() == VariableType.PLACEHOLDER ? Arrays.toString(v.placeholderShape()) : "null";
			members.put(v.name(), String.format("{\"kind\":%s,\"dtype\":%s,\"shape\":%s,\"array\":%s}",
					quote(v.getVariableType().name()), quote(v.dataType().name()), shape, a == null ? "null" : tell(a)));
		}
		return join(members);
	}

	private static String tellSequences(SameDiff sd) {
		Map<String, String> members = new TreeMap<>();
		for (Map.Entry<String, INDArray[]> e : sd.getSequences().entrySet()) {
			List<String> items = new ArrayList<>();
			for (INDArray a : e.getValue())
				items.add(tell(a));
			members.put(e.getKey(), "[" + String.join(",", items) + "]");
		}
		return join(members);
	}

	private static String tellState(SameDiff sd) {
		Map<String, String> members = new TreeMap<>();
		Map<String, GradientUpdater> updaters = sd.getUpdaterMap();
		if (updaters == null)
			return "null";
		for (Map.Entry<String, GradientUpdater> e : updaters.entrySet()) {
			Map<String, INDArray> state = new TreeMap<String, INDArray>(e.getValue().getState());
			for (Map.Entry<String, INDArray> s : state.entrySet())
				members.put(e.getKey() + "/" + s.getKey(), tell(s.getValue()));
		}
		return join(members);
	}

	/* Training comes last: it changes the model. */
	private static String tell(SameDiff sd) {
		Map<String, String> members = new LinkedHashMap<>();
		List<String> operations = new ArrayList<>();
		for (org.nd4j.autodiff.functions.DifferentialFunction op : sd.ops())
			operations.add(quote(op.getOwnName() + ":" + op.opName() + ":" + Arrays.toString(sd.getInputsForOp(op)) + ":"
					+ Arrays.toString(sd.getOutputsForOp(op))));
		Collections.sort(operations);
		members.put("operations", "[" + String.join(",", operations) + "]");
		members.put("inputs", quote(sd.inputs().toString()));
		members.put("losses", quote(sd.getLossVariables().toString()));
		members.put("variables", tellVariables(sd));
		members.put("sequences", tellSequences(sd));
		if (sd.hasVariable("out") && width(sd, "in") > 0)
			members.put("out", tell(sd.output(Collections.singletonMap("in", numbers(21, 5, width(sd, "in"))), "out").get("out")));
		if (sd.getTrainingConfig() != null && width(sd, "in") > 0 && width(sd, "label") > 0) {
			members.put("training", quote(sd.getTrainingConfig().toJson()));
			members.put("updater", tellState(sd));
			train(sd, 3);
			members.put("trained", tellVariables(sd));
			members.put("moved", tellState(sd));
		}
		return join(members);
	}

	private static String load(String file) {
		try {
			return tell(SameDiff.load(new File(file), true));
		} catch (RuntimeException e) {
			return join(Collections.singletonMap("refused", quote(String.valueOf(e))));
		}
	}

	public static void main(String[] args) throws Exception {
		Map<String, String> models = new TreeMap<>();
		if (args[0].equals("make")) {
			SameDiff network = network(), operations = operations(), arrays = arrays(), unsigned = unsigned(), sequences = sequences();
			network.save(new File(args[1], "fresh.fb"), true);
			train(network, 5);
			network.save(new File(args[1], "trained.fb"), true);
			network.save(new File(args[1], "weights.fb"), false);
			operations.save(new File(args[1], "operations.fb"), true);
			arrays.save(new File(args[1], "arrays.fb"), true);
			models.put("operations.fb", tell(operations));
			unsigned.save(new File(args[1], "unsigned.fb"), true);
			sequences.save(new File(args[1], "sequences.fb"), true);
			models.put("arrays.fb", tell(arrays));
			models.put("sequences.fb", tell(sequences));
			models.put("unsigned.fb", tell(unsigned));
			models.put("trained.fb", tell(network));
		} else {
			for (String file : Arrays.asList(args).subList(2, args.length))
				models.put(file, load(file));
		}
		try (PrintStream out = new PrintStream(args[args[0].equals("make") ? 2 : 1], "UTF-8")) {
			out.println(join(models));
		}
	}
}
