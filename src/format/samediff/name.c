#include "base/error.h"

#include <sherd/model_graph.h>

const char *sherd_variable_kind_name(sherd_variable_kind kind)
{
	static const char *const names[] = {"VARIABLE", "CONSTANT", "ARRAY", "PLACEHOLDER", "SEQUENCE"};
	return (unsigned)kind < COUNT_OF(names) ? names[kind] : "UNKNOWN";
}

const char *sherd_op_type_name(uint8_t type)
{
	static const char *const names[] = {
		[0] = "TRANSFORM_FLOAT",
		[1] = "TRANSFORM_SAME",
		[2] = "TRANSFORM_BOOL",
		[3] = "TRANSFORM_STRICT",
		[4] = "TRANSFORM_ANY",
		[5] = "REDUCE_FLOAT",
		[6] = "REDUCE_SAME",
		[7] = "REDUCE_LONG",
		[8] = "REDUCE_BOOL",
		[9] = "INDEX_REDUCE",
		[10] = "SCALAR",
		[11] = "SCALAR_BOOL",
		[12] = "BROADCAST",
		[13] = "BROADCAST_BOOL",
		[14] = "PAIRWISE",
		[15] = "PAIRWISE_BOOL",
		[16] = "REDUCE_3",
		[17] = "SUMMARYSTATS",
		[18] = "SHAPE",
		[19] = "AGGREGATION",
		[20] = "RANDOM",
		[21] = "CUSTOM",
		[22] = "GRAPH",
		[40] = "VARIABLE",
		[60] = "BOOLEAN",
		[119] = "LOGIC",
		[120] = "UDF",
		[200] = "BETA3_TRANSFORM",
		[201] = "BETA3_ACCUMULATION",
		[202] = "BETA3_INDEX_ACCUMULATION",
		[203] = "BETA3_SCALAR",
		[204] = "BETA3_BROADCAST",
		[205] = "BETA3_PAIRWISE",
		[206] = "BETA3_ACCUMULATION3",
		[207] = "BETA3_SUMMARYSTATS",
		[208] = "BETA3_SHAPE",
		[209] = "BETA3_AGGREGATION",
		[210] = "BETA3_RANDOM",
	};
	return type < COUNT_OF(names) && names[type] ? names[type] : "UNKNOWN";
}
