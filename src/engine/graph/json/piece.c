#include "engine/graph/json/piece.h"

#include "base/limits.h"

/* Lines of a piece have at least PIECE bytes, the last piece apart; what is read at once beyond them has BEYOND. */
enum { PIECE = 256 << 10, BEYOND = 4 << 10 };

void shd_graph_cut_init(graph_cut *c, const sherd_graph_source *source, const sherd_limits *limits)
{
	*c = (graph_cut){.source = source, .longest = shd_limits_or_default(limits).metadata_bytes};
}

void shd_graph_cut_done(graph_cut *c)
{
	shd_buf_done(&c->rest);
}

/* Reads about so many bytes more. */
static int cut_read(graph_cut *c, shd_buf *text, size_t more, sherd_error *err)
{
	if (!shd_buf_reserve(text, more))
		return shd_fail_nomem(err);
	int64_t n = c->source->read(c->source->arg, text->data + text->len, more, err);
	if (n < 0)
		return (int)n;
	c->end = n == 0;
	text->len += (size_t)n;
	return SHERD_OK;
}

static size_t last_end(const shd_buf *text)
{
	const uint8_t *newline = text->len ? memrchr(text->data, '\n', text->len) : NULL;
	return newline ? (size_t)(newline + 1 - text->data) : 0;
}

/* Is the line that ends at len, or goes on there, too long? Then only what stands before it is left of the text. */
static int cut_check(graph_cut *c, shd_buf *text, size_t len, sherd_error *err)
{
	const uint8_t *before = len > c->longest ? memrchr(text->data, '\n', len - 1) : NULL;
	size_t start = before ? (size_t)(before + 1 - text->data) : 0;
	if (len - start <= c->longest)
		return SHERD_OK;
	c->too_long = true;
	text->len = start;
	return shd_fail(err, SHERD_ELIMIT, "too-long", "longer than %llu MiB", (unsigned long long)(c->longest >> 20));
}

/* Fills text until a line ends at or after PIECE; *len is where. */
static int cut_fill(graph_cut *c, shd_buf *text, size_t *len, sherd_error *err)
{
	size_t looked = PIECE - 1;
	while (!c->end) {
		const uint8_t *newline =
			text->len > looked ? memchr(text->data + looked, '\n', text->len - looked) : NULL;
		*len = newline ? (size_t)(newline + 1 - text->data) : text->len;
		TRY(cut_check(c, text, *len, err));
		if (newline)
			return SHERD_OK;
		looked = text->len > looked ? text->len : looked;
		/* Of a long line more and more, so that the time does not grow with its square. */
		size_t more = text->len < PIECE               ? PIECE - text->len
		              : text->len > (size_t)PIECE * 4 ? text->len / 2
		                                              : BEYOND;
		TRY(cut_read(c, text, more, err));
	}
	*len = text->len;
	return cut_check(c, text, *len, err);
}

int shd_graph_cut_next(graph_cut *c, shd_buf *text, sherd_error *err)
{
	size_t len = 0;
	text->len = 0;
	if (c->rc < 0)
		return shd_pass(err, c->rc, &c->err);
	if (c->rest.len)
		shd_buf_append(text, c->rest.data, c->rest.len);
	TRY(shd_buf_check(text, err));
	c->rest.len = 0;
	c->rc = cut_fill(c, text, &len, &c->err);
	if (c->rc < 0)
		len = last_end(text);
	if (c->rc < 0 && !len)
		return shd_pass(err, c->rc, &c->err);
	shd_buf_append(&c->rest, text->data + len, text->len - len);
	TRY(shd_buf_check(&c->rest, err));
	text->len = len;
	c->offset += len;
	return len > 0;
}

int shd_graph_piece_init(graph_piece *p, const sherd_limits *limits, sherd_error *err)
{
	*p = (graph_piece){0};
	return sherd_graph_lines_open(&p->lines, limits, err);
}

void shd_graph_piece_done(graph_piece *p)
{
	shd_buf_done(&p->text);
	sherd_graph_lines_close(p->lines);
}

bool shd_graph_piece_cut(graph_piece *p, graph_cut *c)
{
	sherd_graph_lines_clear(p->lines);
	shd_graph_lines_begin(p->lines, c->source->name, c->offset);
	int rc = shd_graph_cut_next(c, &p->text, &p->err);
	p->rc = rc < 0 ? rc : SHERD_OK;
	p->of_line = rc < 0 && c->too_long;
	p->lines->at.number = p->of_line;
	p->what = c->source->what;
	p->end = c->offset;
	return rc != 0;
}

void shd_graph_piece_parse(void *piece)
{
	graph_piece *p = piece;
	if (p->rc < 0)
		return;
	p->rc = shd_graph_lines_parse(p->lines, p->what, (const char *)p->text.data, p->text.len, &p->err);
	p->of_line = true;
}

int shd_graph_piece_check(const graph_piece *p, uint64_t before, sherd_error *err)
{
	p->lines->before = before;
	(void)shd_pass(err, p->rc, &p->err);
	const graph_line *at = &p->lines->at;
	return p->of_line ? shd_graph_line_blame(p->lines, at, p->rc, err)
	                  : shd_in_object(err, p->rc, at->name ? at->name : "");
}
