/* format/pickle/decode.c - the machine of instructions, which makes values and does nothing else. */
#include "format/pickle/decoder.h"

#include <stdio.h>
#include <stdlib.h>

enum {
	MOST_GLOBAL = 512, /* bytes of its name, which is kept of each and looked up each time */
	FEW_NAMED = 16     /* keys and values that many calls may share */
};

int shd_pickle_bad(const shd_pickle_decoder *d, sherd_error *err, const char *fmt, ...)
{
	char text[128];
	va_list ap;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return shd_fail_at(err, SHERD_ECORRUPT, "bad-pickle", d->op, "the pickle is damaged: %s", text);
}

int shd_pickle_push(shd_pickle_decoder *d, shd_pickle_value v, sherd_error *err)
{
	shd_vec_push(&d->stack, v);
	return shd_vec_check(&d->stack, err);
}

int shd_pickle_pop(shd_pickle_decoder *d, shd_pickle_value *out, sherd_error *err)
{
	if (!d->stack.count || d->stack.items[d->stack.count - 1].kind == SHD_PICKLE_MARK)
		return shd_pickle_bad(d, err, "an instruction lacks its value");
	*out = d->stack.items[--d->stack.count];
	return SHERD_OK;
}

/* ---- nodes */

static int append_run(const shd_pickle_decoder *d, shd_pickle_list *list, const shd_pickle_value *items, size_t count,
                      sherd_error *err)
{
	if (!count)
		return SHERD_OK;
	shd_pickle_run *run = shd_arena_alloc(d->arena, 1, sizeof(*run) + count * sizeof(*items));
	if (!run)
		return shd_fail_nomem(err);
	run->next = NULL;
	run->count = count;
	memcpy(run->items, items, count * sizeof(*items));
	*(list->first ? &list->last->next : &list->first) = run;
	list->last = run;
	list->count += count;
	return SHERD_OK;
}

static int new_node(shd_pickle_decoder *d, shd_pickle_kind kind, size_t size, shd_pickle_value *out, sherd_error *err)
{
	shd_pickle_node *n = shd_arena_alloc(d->arena, 1, size);
	if (!n)
		return shd_fail_nomem(err);
	memset(n, 0, size);
	n->number = d->nodes++;
	n->at = (uint32_t)d->op;
	*out = (shd_pickle_value){.kind = kind, .node = n};
	return SHERD_OK;
}

/* Takes the last values of the stack into a new node, which takes their place. */
static int push_container(shd_pickle_decoder *d, shd_pickle_kind kind, size_t count, sherd_error *err)
{
	shd_pickle_value v = {0};
	TRY(new_node(d, kind, sizeof(shd_pickle_node), &v, err));
	TRY(append_run(d, &v.node->items, d->stack.items + d->stack.count - count, count, err));
	d->stack.count -= count;
	return shd_pickle_push(d, v, err);
}

/* How many values lie above the last mark, which is taken away under them. */
static int take_mark(shd_pickle_decoder *d, size_t *count, sherd_error *err)
{
	size_t i = d->stack.count;
	while (i > 0 && d->stack.items[i - 1].kind != SHD_PICKLE_MARK)
		i--;
	if (!i)
		return shd_pickle_bad(d, err, "an instruction lacks its mark");
	*count = d->stack.count - i;
	memmove(d->stack.items + i - 1, d->stack.items + i, *count * sizeof(d->stack.items[0]));
	d->stack.count--;
	return SHERD_OK;
}

static int push_marked(shd_pickle_decoder *d, shd_pickle_kind kind, sherd_error *err)
{
	size_t count = 0;
	TRY(take_mark(d, &count, err));
	if (kind == SHD_PICKLE_DICT && count % 2)
		return shd_pickle_bad(d, err, "a key without a value");
	return push_container(d, kind, count, err);
}

static int push_tuple(shd_pickle_decoder *d, size_t count, sherd_error *err)
{
	for (size_t i = 0; i < count; i++)
		if (d->stack.count < count || d->stack.items[d->stack.count - 1 - i].kind == SHD_PICKLE_MARK)
			return shd_pickle_bad(d, err, "a tuple lacks a value");
	return push_container(d, SHD_PICKLE_TUPLE, count, err);
}

/* ---- what is put into containers later */

/* The list of what lies below the last count values, that these may go into; NULL when they may not. */
static shd_pickle_list *list_below(const shd_pickle_decoder *d, size_t count, bool pairs)
{
	if (d->stack.count <= count)
		return NULL;
	shd_pickle_value v = d->stack.items[d->stack.count - 1 - count];
	switch (v.kind) {
	case SHD_PICKLE_LIST:
	case SHD_PICKLE_SET: return pairs ? NULL : &v.node->items;
	case SHD_PICKLE_DICT: return pairs ? &v.node->items : NULL;
	case SHD_PICKLE_CALL:
	case SHD_PICKLE_OBJECT: return pairs ? &((shd_pickle_call *)v.node)->pairs : &v.node->items;
	default: return NULL;
	}
}

static int add_items(shd_pickle_decoder *d, size_t count, bool pairs, sherd_error *err)
{
	shd_pickle_list *list = list_below(d, count, pairs);
	if (!list || (pairs && count % 2))
		return shd_pickle_bad(d, err, "values are added to what does not take them");
	for (size_t i = 0; i < count; i++)
		if (d->stack.items[d->stack.count - 1 - i].kind == SHD_PICKLE_MARK)
			return shd_pickle_bad(d, err, "a mark is added to a container");
	TRY(append_run(d, list, d->stack.items + d->stack.count - count, count, err));
	d->stack.count -= count;
	return SHERD_OK;
}

static int add_marked(shd_pickle_decoder *d, bool pairs, sherd_error *err)
{
	size_t count = 0;
	TRY(take_mark(d, &count, err));
	return add_items(d, count, pairs, err);
}

static int build(shd_pickle_decoder *d, sherd_error *err)
{
	shd_pickle_value state = {0}, of = {0};
	TRY(shd_pickle_pop(d, &state, err));
	TRY(shd_pickle_pop(d, &of, err));
	if (of.kind != SHD_PICKLE_CALL && of.kind != SHD_PICKLE_OBJECT)
		return shd_pickle_bad(d, err, "a state is given to what has none");
	((shd_pickle_call *)of.node)->state = state;
	return shd_pickle_push(d, of, err);
}

/* ---- what would be imported and called */

static int push_global(shd_pickle_decoder *d, shd_str module, shd_str name, sherd_error *err)
{
	bool ok = true;
	SHD_AUTO_BUF full = {0};
	if (module.len > MOST_GLOBAL || name.len > MOST_GLOBAL - module.len)
		return shd_pickle_bad(d, err, "the name of a global has more than %d bytes", MOST_GLOBAL);
	shd_buf_append(&full, module.ptr, module.len);
	shd_buf_u8(&full, '.');
	shd_buf_append(&full, name.ptr, name.len);
	TRY(shd_buf_check(&full, err));
	shd_str text = {(const char *)full.data, full.len};
	if (memchr(text.ptr, 0, text.len) || shd_pickle_of_text(text).kind != SHD_PICKLE_TEXT)
		return shd_pickle_bad(d, err, "the name of a global is no text");
	size_t at = shd_map_find(&d->names, text);
	if (at == SHD_MAP_NONE) {
		char *kept = shd_arena_str(d->arena, text);
		if (!kept)
			return shd_fail_nomem(err);
		at = d->globals.count;
		shd_vec_push(&d->globals, (shd_pickle_global){.name = kept, .at = (uint32_t)d->op});
		(void)shd_map_add(&d->names, shd_str_of(kept), at, &ok);
		if (!ok || d->globals.failed)
			return shd_fail_nomem(err);
	}
	return shd_pickle_push(d, (shd_pickle_value){.kind = SHD_PICKLE_GLOBAL, .len = (uint32_t)at}, err);
}

static int push_global_lines(shd_pickle_decoder *d, sherd_error *err)
{
	shd_str module = {0}, name = {0};
	TRY(shd_pickle_line(d, &module, err));
	TRY(shd_pickle_line(d, &name, err));
	return push_global(d, module, name, err);
}

static int push_stack_global(shd_pickle_decoder *d, sherd_error *err)
{
	shd_pickle_value module = {0}, name = {0};
	TRY(shd_pickle_pop(d, &name, err));
	TRY(shd_pickle_pop(d, &module, err));
	if (name.kind != SHD_PICKLE_TEXT || module.kind != SHD_PICKLE_TEXT)
		return shd_pickle_bad(d, err, "the name of a global is no text");
	return push_global(d, shd_pickle_text(module), shd_pickle_text(name), err);
}

/* A number that stands for a global in a table of the reader's program. */
static int push_extension(shd_pickle_decoder *d, uint32_t number, sherd_error *err)
{
	char text[16];
	(void)snprintf(text, sizeof(text), "%u", number);
	return push_global(d, SHD_STR("copyreg.extension"), shd_str_of(text), err);
}

/* (something harmless, 'NAME'): an attribute that is looked up in it, such as the value of an enumeration. */
static bool is_tame(const shd_pickle_decoder *d, shd_pickle_value args)
{
	const shd_pickle_value *items;
	return shd_pickle_tuple(args, &items) == 2 && items[0].kind == SHD_PICKLE_GLOBAL &&
	       shd_pickle_judge(d->globals.items[items[0].len].name) == SHD_PICKLE_HARMLESS &&
	       items[1].kind == SHD_PICKLE_TEXT && items[1].len && items[1].text[0] != '_' &&
	       !memchr(items[1].text, '.', items[1].len);
}

static int push_call(shd_pickle_decoder *d, shd_pickle_kind kind, shd_pickle_value callee, shd_pickle_value args,
                     sherd_error *err)
{
	shd_pickle_value v = {0};
	TRY(new_node(d, kind, sizeof(shd_pickle_call), &v, err));
	shd_pickle_call *call = (shd_pickle_call *)v.node;
	call->callee = callee;
	call->args = args;
	if (callee.kind == SHD_PICKLE_GLOBAL) {
		d->globals.items[callee.len].called = true;
		d->globals.items[callee.len].wild |= !is_tame(d, args);
	}
	return shd_pickle_push(d, v, err);
}

/* REDUCE and NEWOBJ. */
static int call_popped(shd_pickle_decoder *d, shd_pickle_kind kind, sherd_error *err)
{
	shd_pickle_value args = {0}, callee = {0};
	TRY(shd_pickle_pop(d, &args, err));
	TRY(shd_pickle_pop(d, &callee, err));
	if (args.kind != SHD_PICKLE_TUPLE)
		return shd_pickle_bad(d, err, "the arguments of a call are no tuple");
	return push_call(d, kind, callee, args, err);
}

/* With names for some arguments, which stand after the others here. */
static int call_named(shd_pickle_decoder *d, sherd_error *err)
{
	shd_pickle_value named = {0}, args = {0}, callee = {0};
	TRY(shd_pickle_pop(d, &named, err));
	TRY(shd_pickle_pop(d, &args, err));
	TRY(shd_pickle_pop(d, &callee, err));
	if (args.kind != SHD_PICKLE_TUPLE || named.kind != SHD_PICKLE_DICT)
		return shd_pickle_bad(d, err, "the arguments of a call are no tuple and dictionary");
	TRY(push_call(d, SHD_PICKLE_OBJECT, callee, args, err));
	shd_pickle_call *call = (shd_pickle_call *)d->stack.items[d->stack.count - 1].node;
	/* A copy, since the object and the dictionary grow apart. Where each call has a dictionary of its own, what is
	 * copied takes no more values than there are bytes. */
	d->copied += named.node->items.count > FEW_NAMED ? named.node->items.count : 0;
	if (d->copied > d->c.pos)
		return shd_pickle_bad(d, err, "calls share the names of their arguments");
	for (const shd_pickle_run *run = named.node->items.first; run; run = run->next)
		TRY(append_run(d, &call->pairs, run->items, run->count, err));
	return SHERD_OK;
}

/* INST and OBJ: the class, and arguments from the mark on; OBJ has the class as the first of them. */
static int call_marked(shd_pickle_decoder *d, bool inst, sherd_error *err)
{
	shd_pickle_value callee = {0}, args = {0};
	size_t count = 0;
	if (inst) {
		TRY(push_global_lines(d, err));
		TRY(shd_pickle_pop(d, &callee, err));
	}
	TRY(take_mark(d, &count, err));
	if (!inst) {
		if (!count)
			return shd_pickle_bad(d, err, "an object lacks its class");
		count--;
		callee = d->stack.items[d->stack.count - 1 - count];
	}
	TRY(push_container(d, SHD_PICKLE_TUPLE, count, err));
	TRY(shd_pickle_pop(d, &args, err));
	d->stack.count -= !inst;
	return push_call(d, SHD_PICKLE_OBJECT, callee, args, err);
}

static int push_persid(shd_pickle_decoder *d, bool line, sherd_error *err)
{
	shd_pickle_value id = {0};
	shd_str text = {0};
	if (line) {
		TRY(shd_pickle_line(d, &text, err));
		id = shd_pickle_of_text(text);
	} else {
		TRY(shd_pickle_pop(d, &id, err));
	}
	return push_call(d, SHD_PICKLE_PERSID, (shd_pickle_value){0}, id, err);
}

/* ---- instructions */

static int run_memo(shd_pickle_decoder *d, uint8_t op, sherd_error *err)
{
	uint32_t number = 0;
	switch (op) {
	case 'p': TRY(shd_pickle_line_u32(d, &number, err)); return shd_pickle_remember(d, number, err);
	case 'q': return shd_pickle_remember(d, shd_cursor_u8(&d->c), err);
	case 'r': return shd_pickle_remember(d, shd_cursor_u32(&d->c), err);
	case 0x94: return shd_pickle_remember(d, (uint32_t)d->memo_count, err);
	case 'g': TRY(shd_pickle_line_u32(d, &number, err)); return shd_pickle_recall(d, number, err);
	case 'h':
	case 'j':
		number = op == 'h' ? shd_cursor_u8(&d->c) : shd_cursor_u32(&d->c);
		return d->c.failed ? SHERD_OK : shd_pickle_recall(d, number, err);
	default: return 1;
	}
}

static int run_stack(shd_pickle_decoder *d, uint8_t op, sherd_error *err)
{
	shd_pickle_value v = {0};
	size_t count = 0;
	switch (op) {
	case '(': return shd_pickle_push(d, (shd_pickle_value){.kind = SHD_PICKLE_MARK}, err);
	case '0':
		if (d->stack.count && d->stack.items[d->stack.count - 1].kind == SHD_PICKLE_MARK)
			d->stack.count--;
		else
			TRY(shd_pickle_pop(d, &v, err));
		return SHERD_OK;
	case '1':
		TRY(take_mark(d, &count, err));
		d->stack.count -= count;
		return SHERD_OK;
	case '2':
		TRY(shd_pickle_pop(d, &v, err));
		TRY(shd_pickle_push(d, v, err));
		return shd_pickle_push(d, v, err);
	case 0x80:
		if (shd_cursor_u8(&d->c) > 5)
			return shd_pickle_bad(d, err, "a protocol that is not known");
		return SHERD_OK;
	case 0x95: (void)shd_cursor_u64(&d->c); return SHERD_OK;
	case 0x98: return SHERD_OK;
	default: return 1;
	}
}

static int run_container(shd_pickle_decoder *d, uint8_t op, sherd_error *err)
{
	switch (op) {
	case ')': return push_container(d, SHD_PICKLE_TUPLE, 0, err);
	case 0x85:
	case 0x86:
	case 0x87: return push_tuple(d, op - 0x84u, err);
	case 't': return push_marked(d, SHD_PICKLE_TUPLE, err);
	case ']': return push_container(d, SHD_PICKLE_LIST, 0, err);
	case 'l': return push_marked(d, SHD_PICKLE_LIST, err);
	case '}': return push_container(d, SHD_PICKLE_DICT, 0, err);
	case 'd': return push_marked(d, SHD_PICKLE_DICT, err);
	case 0x8f: return push_container(d, SHD_PICKLE_SET, 0, err);
	case 0x91: return push_marked(d, SHD_PICKLE_SET, err);
	case 'a': return add_items(d, 1, false, err);
	case 'e':
	case 0x90: return add_marked(d, false, err);
	case 's': return add_items(d, 2, true, err);
	case 'u': return add_marked(d, true, err);
	default: return 1;
	}
}

static int run_object(shd_pickle_decoder *d, uint8_t op, sherd_error *err)
{
	switch (op) {
	case 'c': return push_global_lines(d, err);
	case 0x93: return push_stack_global(d, err);
	case 0x82: return push_extension(d, shd_cursor_u8(&d->c), err);
	case 0x83: return push_extension(d, shd_cursor_u16(&d->c), err);
	case 0x84: return push_extension(d, shd_cursor_u32(&d->c), err);
	case 'R': return call_popped(d, SHD_PICKLE_CALL, err);
	case 0x81: return call_popped(d, SHD_PICKLE_OBJECT, err);
	case 0x92: return call_named(d, err);
	case 'i': return call_marked(d, true, err);
	case 'o': return call_marked(d, false, err);
	case 'b': return build(d, err);
	case 'P': return push_persid(d, true, err);
	case 'Q': return push_persid(d, false, err);
	case 0x97: return shd_pickle_bad(d, err, "it refers to buffers that are not in it");
	default: return 1;
	}
}

static int run_all(shd_pickle_decoder *d, sherd_error *err)
{
	int (*const runners[])(shd_pickle_decoder *, uint8_t, sherd_error *) = {run_memo, shd_pickle_scalar, run_stack,
	                                                                        run_container, run_object};
	for (;;) {
		int rc = 1;
		d->op = d->c.pos;
		uint8_t op = shd_cursor_u8(&d->c);
		if (op == '.' && !d->c.failed)
			return SHERD_OK;
		for (size_t i = 0; rc > 0 && !d->c.failed && i < COUNT_OF(runners); i++)
			rc = runners[i](d, op, err);
		TRY(shd_cursor_check(&d->c, "the pickle", err));
		TRY(rc);
		if (rc > 0)
			return shd_pickle_bad(d, err, "%02x is no instruction", op);
	}
}

/* Of what was named before a pickle broke off, the worst: a program would have called it before it noticed. */
static int name_danger(const shd_pickle_decoder *d, int rc, sherd_error *err)
{
	for (size_t i = 0; rc < 0 && err && i < d->globals.count; i++) {
		const shd_pickle_global *g = &d->globals.items[i];
		size_t used = strlen(err->message);
		if (!g->called || shd_pickle_judge_use(g) != SHD_PICKLE_DANGEROUS)
			continue;
		(void)snprintf(err->message + used, sizeof(err->message) - used,
		               "; before that, loading it would have called %.80s", g->name);
		return rc;
	}
	return rc;
}

static void decoder_done(shd_pickle_decoder *d)
{
	shd_vec_done(&d->stack);
	shd_vec_done(&d->globals);
	shd_map_done(&d->names);
	free(d->memo);
}

int shd_pickle_decode(const void *data, size_t len, shd_arena *arena, shd_pickle *out, sherd_error *err)
{
	SHD_DONE(decoder_done) shd_pickle_decoder d = {.c = shd_cursor_over(data, len), .arena = arena};
	*out = (shd_pickle){0};
	if (len > UINT32_MAX)
		return shd_fail(err, SHERD_ELIMIT, "too-large", "a pickle of %zu bytes", len);
	int rc = run_all(&d, err);
	if (rc == SHERD_OK)
		rc = shd_pickle_pop(&d, &out->root, err);
	out->globals = shd_arena_copy(arena, d.globals.items, d.globals.count * sizeof(*d.globals.items));
	if (!out->globals)
		return shd_fail_nomem(err);
	out->global_count = d.globals.count;
	out->bytes = d.c.pos;
	out->nodes = d.nodes;
	return name_danger(&d, rc, err);
}

/* ---- the tree */

size_t shd_pickle_tuple(shd_pickle_value v, const shd_pickle_value **out)
{
	if (v.kind != SHD_PICKLE_TUPLE || !v.node->items.first)
		return 0;
	*out = v.node->items.first->items;
	return v.node->items.first->count;
}

bool shd_pickle_next(shd_pickle_cursor *c, shd_pickle_value *out)
{
	if (c->run && c->at == c->run->count) {
		c->run = c->run->next;
		c->at = 0;
	}
	if (!c->run || !c->left)
		return false;
	c->left--;
	*out = c->run->items[c->at++];
	return true;
}

const shd_pickle_list *shd_pickle_pairs(shd_pickle_value v)
{
	if (v.kind == SHD_PICKLE_DICT)
		return &v.node->items;
	return v.kind == SHD_PICKLE_CALL || v.kind == SHD_PICKLE_OBJECT ? &shd_pickle_call_of(v)->pairs : NULL;
}

shd_pickle_value shd_pickle_find(shd_pickle_value v, const char *key)
{
	const shd_pickle_list *pairs = shd_pickle_pairs(v);
	shd_pickle_value found = {0}, k, value;
	shd_pickle_cursor c = pairs ? shd_pickle_walk(pairs) : (shd_pickle_cursor){0};
	while (shd_pickle_next(&c, &k) && shd_pickle_next(&c, &value))
		if (shd_pickle_is_text(k, key))
			found = value;
	return found;
}
