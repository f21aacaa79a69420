#include "support/test.h"

#include <sherd/graph_json.h>

#include <stdlib.h>
#include <string.h>

static sherd_graph_lines *lines;

static int open_lines(void **state)
{
	(void)state;
	return sherd_graph_lines_open(&lines, NULL, NULL);
}

static int close_lines(void **state)
{
	(void)state;
	sherd_graph_lines_close(lines);
	return 0;
}

static int add(sherd_graph_record what, const char *line, sherd_error *err)
{
	return sherd_graph_lines_add(lines, what, line, strlen(line), err);
}

static sherd_graph_node node_of(const char *line)
{
	sherd_error err;
	sherd_graph_lines_clear(lines);
	assert_int_equal(add(SHERD_GRAPH_NODE, line, &err), SHERD_GRAPH_NODE);
	const sherd_graph_node *n;
	assert_int_equal(sherd_graph_lines_nodes(&n, lines), 1);
	return *n;
}

static sherd_graph_edge edge_of(const char *line)
{
	sherd_error err;
	sherd_graph_lines_clear(lines);
	assert_int_equal(add(SHERD_GRAPH_EDGE, line, &err), SHERD_GRAPH_EDGE);
	const sherd_graph_edge *e;
	assert_int_equal(sherd_graph_lines_edges(&e, lines), 1);
	return *e;
}

static void assert_text(sherd_graph_text text, const char *want)
{
	assert_int_equal(text.len, strlen(want));
	assert_memory_equal(text.ptr, want, text.len);
}

static void assert_id(sherd_graph_id id, const char *want)
{
	char text[SHERD_GRAPH_ID_TEXT];
	sherd_graph_id_format(text, id);
	assert_string_equal(text, want);
}

static void assert_node_line(const sherd_graph_node *node, const char *want)
{
	char *line = NULL;
	size_t room = 0, len;
	assert_ok(sherd_graph_node_line(&line, &room, &len, node, err));
	assert_int_equal(len, strlen(want));
	assert_memory_equal(line, want, len);
	sherd_free(line);
}

TEST(a_node_has_what_its_line_says)
{
	sherd_graph_node n = node_of("{\"id\":\"src/auth/login.ts->FUNCTION->login\",\"semanticId\":\"s\",\"nodeType\":"
	                             "\"FUNCTION\",\"name\":\"login\",\"file\":\"src/auth/login.ts\",\"contentHash\":"
	                             "18446744073709551615,\"metadata\":\"{ \\\"b\\\":1}\"}\r\n");
	assert_id(n.id, "6347559563435358716131808680399477462");
	assert_text(n.semantic_id, "s");
	assert_text(n.type, "FUNCTION");
	assert_text(n.name, "login");
	assert_text(n.file, "src/auth/login.ts");
	assert_text(n.metadata, "{ \"b\":1}");
	assert_true(n.content_hash == UINT64_MAX);
	assert_false(n.exported);
}

TEST(what_is_absent_or_null_is_what_the_real_server_makes_of_it)
{
	sherd_graph_node n = node_of("{\"id\":\"x\"}");
	assert_text(n.semantic_id, "UNKNOWN:@");
	assert_text(n.type, "UNKNOWN");
	assert_text(n.name, "");
	assert_text(n.file, "");
	assert_text(n.metadata, "");
	n = node_of("{\"id\":\"x\",\"nodeType\":null,\"name\":\"n\",\"file\":\"a/b.js\",\"metadata\":null,\"exported\":"
	            "null,\"semanticId\":null}");
	assert_text(n.semantic_id, "UNKNOWN:n@a/b.js");
	sherd_graph_edge e = edge_of("{\"src\":\"1\",\"dst\":\"2\"}");
	assert_text(e.type, "UNKNOWN");
	assert_text(e.metadata, "");
}

TEST(an_empty_semantic_id_stays_empty)
{
	assert_text(node_of("{\"id\":\"x\",\"semanticId\":\"\"}").semantic_id, "");
}

TEST(ids_are_texts_or_numbers_of_128_bits)
{
	assert_id(node_of("{\"id\":7}").id, "7");
	assert_id(node_of("{\"id\":\"007\"}").id, "7");
	assert_id(node_of("{\"id\":340282366920938463463374607431768211455}").id,
	          "340282366920938463463374607431768211455");
	assert_id(edge_of("{\"src\":\"340282366920938463463374607431768211455\",\"dst\":1}").src,
	          "340282366920938463463374607431768211455");
	assert_fails(SHERD_ECORRUPT, 6, add(SHERD_GRAPH_NODE, "{\"id\":340282366920938463463374607431768211456}", err));
	assert_refused(SHERD_ECORRUPT, "bad-number", add(SHERD_GRAPH_NODE, "{\"id\":-1}", err));
	assert_refused(SHERD_ECORRUPT, "bad-number", add(SHERD_GRAPH_NODE, "{\"id\":1.5}", err));
	assert_refused(SHERD_ECORRUPT, "bad-type", add(SHERD_GRAPH_NODE, "{\"id\":[1]}", err));
}

TEST(an_object_as_metadata_is_written_compactly_with_sorted_keys)
{
	sherd_graph_node n =
		node_of("{\"id\":1,\"metadata\":{ \"b\" : [1, {\"z\":1.50,\"y\":null}], \"a\":\"\\u00e4\"}}");
	assert_text(n.metadata, "{\"a\":\"\\u00e4\",\"b\":[1,{\"y\":null,\"z\":1.50}]}");
	assert_text(edge_of("{\"src\":1,\"dst\":2,\"metadata\":{\"b\":1,\"a\":2}}").metadata, "{\"a\":2,\"b\":1}");
	assert_refused(SHERD_ECORRUPT, "bad-type", add(SHERD_GRAPH_NODE, "{\"id\":1,\"metadata\":[]}", err));
}

TEST(an_exported_node_is_marked_in_its_metadata)
{
	sherd_graph_node n = node_of("{\"id\":1,\"exported\":true}");
	assert_text(n.metadata, "{\"__exported\":true}");
	assert_true(n.exported);
	n = node_of("{\"id\":1,\"exported\":true,\"metadata\":\"{\\\"b\\\":1, \\\"a\\\":2}\"}");
	assert_text(n.metadata, "{\"__exported\":true,\"a\":2,\"b\":1}");
	assert_fails(SHERD_ECORRUPT, 35,
	             add(SHERD_GRAPH_NODE, "{\"id\":1,\"exported\":true,\"metadata\":\"[1]\"}", err));
}

TEST(metadata_that_is_marked_already_stays_as_it_is)
{
	sherd_graph_node n =
		node_of("{\"id\":1,\"exported\":true,\"metadata\":\"{\\\"b\\\":1, \\\"__exported\\\":true}\"}");
	assert_text(n.metadata, "{\"b\":1, \"__exported\":true}");
	assert_text(node_of("{\"id\":1,\"metadata\":{\"b\":1,\"__exported\":true}}").metadata,
	            "{\"__exported\":true,\"b\":1}");
}

TEST(what_has_a_source_is_an_edge)
{
	sherd_error err;
	assert_int_equal(add(SHERD_GRAPH_ANY, "{\"id\":\"a\"}", &err), SHERD_GRAPH_NODE);
	assert_int_equal(add(SHERD_GRAPH_ANY, "{\"dst\":\"a\",\"src\":\"b\",\"id\":\"c\"}", &err), SHERD_GRAPH_EDGE);
	assert_int_equal(add(SHERD_GRAPH_ANY, " \t\r\n", &err), 0);
	assert_int_equal(add(SHERD_GRAPH_ANY, "", &err), 0);
	const sherd_graph_node *nodes;
	const sherd_graph_edge *edges;
	assert_int_equal(sherd_graph_lines_nodes(&nodes, lines), 1);
	assert_int_equal(sherd_graph_lines_edges(&edges, lines), 1);
}

TEST(lines_that_are_no_records_are_refused_where_they_go_wrong)
{
	assert_refused(SHERD_ECORRUPT, "missing-key", add(SHERD_GRAPH_NODE, "{}", err));
	assert_refused(SHERD_ECORRUPT, "missing-key", add(SHERD_GRAPH_NODE, "{\"id\":null}", err));
	assert_refused(SHERD_ECORRUPT, "missing-key", add(SHERD_GRAPH_EDGE, "{\"src\":\"a\"}", err));
	assert_refused(SHERD_ECORRUPT, "missing-key", add(SHERD_GRAPH_ANY, "{\"dst\":\"a\"}", err));
	assert_refused(SHERD_ECORRUPT, "bad-type", add(SHERD_GRAPH_NODE, "[1]", err));
	assert_refused(SHERD_ECORRUPT, "duplicate-key", add(SHERD_GRAPH_NODE, "{\"id\":1,\"id\":2}", err));
	assert_fails(SHERD_ECORRUPT, 9, add(SHERD_GRAPH_NODE, "{\"id\":1} x", err));
	assert_fails(SHERD_ECORRUPT, 15, add(SHERD_GRAPH_NODE, "{\"id\":1,\"name\":2}", err));
	const sherd_graph_node *nodes;
	assert_int_equal(sherd_graph_lines_nodes(&nodes, lines), 0);
}

TEST(keys_of_others_are_passed_over)
{
	assert_id(node_of("{\"src\":{\"x\":[]},\"id\":3,\"edgeType\":9}").id, "3");
}

TEST(a_written_line_reads_back_as_the_same_record)
{
	static const char *const exact[] = {
		"{\"id\":\"1\",\"semanticId\":\"a\\\"\\n\xc3\xa4\",\"nodeType\":\"T\",\"name\":\"\",\"file\":\"\"}",
		"{\"id\":\"340282366920938463463374607431768211455\",\"semanticId\":\"\",\"nodeType\":\"T\",\"name\":"
		"\"n\","
		"\"file\":\"f\",\"metadata\":\"{ }\",\"contentHash\":18446744073709551615}",
		"{\"id\":\"1\",\"semanticId\":\"s\",\"nodeType\":\"T\",\"name\":\"n\",\"file\":\"f\",\"exported\":"
		"true}",
		"{\"id\":\"1\",\"semanticId\":\"s\",\"nodeType\":\"T\",\"name\":\"n\",\"file\":\"f\",\"exported\":true,"
		"\"metadata\":\"{\\\"a\\\":1}\"}",
	};
	for (size_t i = 0; i < sizeof(exact) / sizeof(exact[0]); i++) {
		sherd_graph_node n = node_of(exact[i]);
		assert_node_line(&n, exact[i]);
	}
}

TEST(the_mark_of_others_is_taken_out_too)
{
	sherd_graph_node n =
		node_of("{\"id\":1,\"semanticId\":\"\",\"metadata\":\"{ \\\"b\\\":1, \\\"__exported\\\":true, "
	                "\\\"a\\\":2}\"}");
	assert_true(n.exported);
	assert_node_line(
		&n,
		"{\"id\":\"1\",\"semanticId\":\"\",\"nodeType\":\"UNKNOWN\",\"name\":\"\",\"file\":\"\",\"exported\":"
		"true,\"metadata\":\"{\\\"a\\\":2,\\\"b\\\":1}\"}");
}

TEST(a_mark_in_what_is_no_json_stays)
{
	static const char line[] =
		"{\"id\":\"1\",\"semanticId\":\"\",\"nodeType\":\"T\",\"name\":\"\",\"file\":\"\",\"exported\":true,"
		"\"metadata\":\"{\\\"__exported\\\":true;\"}";
	sherd_graph_node n = node_of(line);
	assert_node_line(&n, line);
}

TEST(edges_and_long_lines_use_the_callers_memory_again)
{
	char *line = NULL;
	size_t room = 0, len;
	sherd_graph_edge e = edge_of("{\"src\":1,\"dst\":\"2\",\"edgeType\":\"CALLS\",\"metadata\":{\"k\":1}}");
	assert_ok(sherd_graph_edge_line(&line, &room, &len, &e, err));
	assert_int_equal(len, strlen("{'src':'1','dst':'2','edgeType':'CALLS','metadata':'{_'k_':1}'}"));
	assert_memory_equal(line, "{\"src\":\"1\",\"dst\":\"2\",\"edgeType\":\"CALLS\",\"metadata\":\"{\\\"k\\\":1}\"}",
	                    len);
	size_t before = room;
	char *kept = line;
	e.metadata.len = 0;
	assert_ok(sherd_graph_edge_line(&line, &room, &len, &e, err));
	assert_ptr_equal(line, kept);
	assert_int_equal(room, before);
	assert_memory_equal(line, "{\"src\":\"1\",\"dst\":\"2\",\"edgeType\":\"CALLS\"}", len);
	sherd_free(line);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_lines, close_lines)
	const struct CMUnitTest tests[] = {
		CASE(a_node_has_what_its_line_says),
		CASE(what_is_absent_or_null_is_what_the_real_server_makes_of_it),
		CASE(an_empty_semantic_id_stays_empty),
		CASE(ids_are_texts_or_numbers_of_128_bits),
		CASE(an_object_as_metadata_is_written_compactly_with_sorted_keys),
		CASE(an_exported_node_is_marked_in_its_metadata),
		CASE(metadata_that_is_marked_already_stays_as_it_is),
		CASE(what_has_a_source_is_an_edge),
		CASE(lines_that_are_no_records_are_refused_where_they_go_wrong),
		CASE(keys_of_others_are_passed_over),
		CASE(a_written_line_reads_back_as_the_same_record),
		CASE(the_mark_of_others_is_taken_out_too),
		CASE(a_mark_in_what_is_no_json_stays),
		CASE(edges_and_long_lines_use_the_callers_memory_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
