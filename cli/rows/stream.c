#include "rows/stream.h"

#include "base/ranks.h"
#include "commands.h"
#include "rows/rows.h"

#include <inttypes.h>
#include <string.h>

static int rows_stream_take_ranks(sherd_rows_stream_options *o, const cli_args *args, sherd_error *err)
{
	static const char *const tails[] = {"keep", "drop", "pad", NULL};
	unsigned tail = SHERD_ROWS_TAIL_KEEP;
	cli_ranks ranks;
	TRY(cli_ranks_take(&ranks, NULL, args, err));
	o->world = ranks.world;
	o->rank = ranks.rank;
	TRY(cli_args_word(args, "tail", tails, &tail, err));
	o->tail = (sherd_rows_tail)tail;
	if (cli_args_has(args, "tail") && !o->world)
		return cli_usage(err, "--tail needs --rank and --world");
	return SHERD_OK;
}

static int take_order(sherd_rows_stream_options *o, const cli_args *args, sherd_error *err)
{
	o->shuffle = cli_args_has(args, "shuffle");
	o->sample = cli_args_has(args, "sample");
	TRY(cli_args_u64(args, "shuffle", 0, &o->seed, err));
	TRY(cli_args_u64(args, "shuffle-window", 1, &o->shuffle_window, err));
	TRY(cli_args_u64(args, "epoch", 0, &o->epoch, err));
	TRY(cli_args_real(args, "sample", &o->fraction, err));
	if (o->fraction < 0 || o->fraction > 1)
		return cli_usage(err, "--sample must be a number from 0 to 1");
	if (o->shuffle_window && !o->shuffle)
		return cli_usage(err, "--shuffle-window needs --shuffle");
	return SHERD_OK;
}

static int take_start(sherd_rows_stream_options *o, const cli_args *args, sherd_error *err)
{
	o->resume = cli_args_text(args, "resume");
	TRY(cli_args_u64(args, "from", 0, &o->from, err));
	TRY(cli_args_u64(args, "batch", 1, &o->batch_rows, err));
	TRY(cli_args_size(args, "batch-bytes", &o->batch_bytes, err));
	if (o->resume && (cli_args_has(args, "from") || cli_args_has(args, "epoch")))
		return cli_usage(err, "--resume knows the row and the epoch: it goes with neither --from nor --epoch");
	if (o->batch_rows && o->batch_bytes)
		return cli_usage(err, "--batch and --batch-bytes: one of them gives the size");
	return SHERD_OK;
}

static int rows_stream_take_dtype(sherd_rows_stream_options *o, const cli_args *args, sherd_error *err)
{
	static const char *const names[] = {"f64", "f32", "f16", "bf16", NULL};
	static const sherd_dtype dtypes[] = {SHERD_F64, SHERD_F32, SHERD_F16, SHERD_BF16};
	unsigned dtype = 0;
	TRY(cli_args_word(args, "dtype", names, &dtype, err));
	o->dtype = dtypes[dtype];
	o->verify = cli_args_has(args, "verify");
	return SHERD_OK;
}

static int take_reading(sherd_rows_stream_options *o, const cli_args *args, sherd_error *err)
{
	static const char *const ways[] = {"auto", "map", "read", "direct", NULL};
	unsigned way = SHERD_ROWS_AUTO;
	TRY(cli_args_size(args, "window", &o->window_bytes, err));
	TRY(cli_args_word(args, "access", ways, &way, err));
	o->access = (sherd_rows_access)way;
	return rows_stream_take_dtype(o, args, err);
}

static int rows_stream_take_file(cli_streaming *s, const cli_args *args, sherd_error *err)
{
	s->output = cli_args_text(args, "output");
	s->replace = cli_args_has(args, "replace");
	if (s->as == CLI_STREAMING_NPY && !s->output)
		return cli_usage(err, "--format npy needs -o FILE");
	if (s->as != CLI_STREAMING_NPY && (s->output || s->replace))
		return cli_usage(err, "-o and --replace go with --format npy");
	return SHERD_OK;
}

static int take_output(cli_streaming *s, const cli_args *args, sherd_error *err)
{
	static const char *const formats[] = {"list", "text", "raw", "npy", NULL};
	bool digest = cli_args_has(args, "digest"), set = cli_args_has(args, "set-digest");
	unsigned format = CLI_STREAMING_LIST;
	TRY(cli_args_u64(args, "limit-batches", 1, &s->limit, err));
	TRY(cli_args_word(args, "format", formats, &format, err));
	s->as = (cli_streaming_as)format;
	s->cursor = cli_args_has(args, "cursor");
	s->ids = cli_args_has(args, "ids");
	if (digest + set + cli_args_has(args, "format") > 1)
		return cli_usage(err, "--digest, --set-digest and --format: one at a time");
	if (digest || set)
		s->as = digest ? CLI_STREAMING_DIGEST : CLI_STREAMING_SET_DIGEST;
	if (s->ids && s->as != CLI_STREAMING_TEXT)
		return cli_usage(err, "--ids needs --format text");
	return rows_stream_take_file(s, args, err);
}

static int refuse_raw_json(const cli_streaming *s, const cli_state *cli, sherd_error *err)
{
	if (s->as != CLI_STREAMING_RAW || !cli->out.json)
		return SHERD_OK;
	return cli_usage(err, "--json is a format of its own: it cannot go with --format raw");
}

int cli_streaming_take_gather(cli_streaming *s, cli_state *cli, const cli_args *args, sherd_error *err)
{
	static const char *const formats[] = {"text", "raw", "npy", NULL};
	static const cli_streaming_as as[] = {CLI_STREAMING_TEXT, CLI_STREAMING_RAW, CLI_STREAMING_NPY};
	unsigned format = 0;
	*s = (cli_streaming){.stream.pool = cli->pool};
	TRY(cli_args_word(args, "format", formats, &format, err));
	s->as = as[format];
	TRY(rows_stream_take_dtype(&s->stream, args, err));
	TRY(rows_stream_take_file(s, args, err));
	return refuse_raw_json(s, cli, err);
}

int cli_streaming_take(cli_streaming *s, const cli_args *args, sherd_error *err)
{
	*s = (cli_streaming){0};
	TRY(rows_stream_take_ranks(&s->stream, args, err));
	TRY(take_order(&s->stream, args, err));
	TRY(take_start(&s->stream, args, err));
	TRY(take_reading(&s->stream, args, err));
	return take_output(s, args, err);
}

static int stream(cli_state *cli, cli_streaming *s, const cli_place *place, const sherd_rows *rows, sherd_error *err)
{
	CLI_AUTO(sherd_rows_cursor, sherd_rows_cursor_close) cursor = NULL;
	sherd_rows_stream_options options = s->stream;
	options.pool = cli->pool;
	s->width = sherd_rows_width(rows);
	TRY(cli_place_blame(place, sherd_rows_cursor_open(&cursor, rows, &options, err), err));
	return cli_streaming_run(cli, s, cursor, place, err);
}

static int rows_stream_run(cli_state *cli, const cli_args *args, sherd_error *err)
{
	cli_streaming s;
	CLI_AUTO_PLACE place = {0};
	CLI_AUTO(sherd_rows, sherd_rows_close) rows = NULL;
	bool incomplete = cli_args_has(args, "incomplete");
	TRY(cli_streaming_take(&s, args, err));
	TRY(refuse_raw_json(&s, cli, err));
	TRY(cli_rows_open_paths(&rows, cli, &place, args->operands, args->count, incomplete, err));
	return stream(cli, &s, &place, rows, err);
}

static const cli_option options[] = {
	{"batch", "N", "rows of a batch (default: 1024)", 0},
	{"batch-bytes", "BYTES", "stored bytes of a batch instead; at least one row", 0},
	{"from", "ROW", "begin at this row of the order of delivery", 0},
	{"rank", "R", "only the batches of this rank; or auto", 0},
	{"world", "W", "how many ranks share the batches", 0},
	{"tail", "keep|drop|pad", "a last round with too few batches (default: keep)", 0},
	{"sample", "F", "only this fraction of the rows, by the hash of their ids", 0},
	{"shuffle", "SEED", "in the order that the seed gives", 0},
	{"shuffle-window", "N", "shuffle within runs of N rows only", 0},
	{"epoch", "N", "the pass over the set: each one is shuffled in its own way (default: 0)", 0},
	{"dtype", "f64|f32|f16|bf16", "of what is handed out (default: f64)", 0},
	{"verify", NULL, "check every part of the set before its rows are delivered", 0},
	{"window", "BYTES", "how far to read ahead (default: 8M, over a network 64M); K, M, G and T are understood", 0},
	{"access", "auto|map|read|direct", "how the shards are read (default: auto)", 0},
	{"resume", "CURSOR", "go on where the stream stood that told this cursor", 0},
	{"cursor", NULL, "tell at the end where the stream stands: on standard error, or in the document", 0},
	{"limit-batches", "N", "stop after N batches", 0},
	{"format", "list|text|raw|npy",
         "list (default; a line a batch), text (a line a row), raw (the bytes), npy (with -o)", 0},
	{"output", "FILE", "where the NumPy file goes", 'o'},
	{"replace", NULL, "replace FILE if it is there", 0},
	{"ids", NULL, "as text, put the id of every row before it", 0},
	{"digest", NULL, "print only the SHA-256 of the values as delivered: a chain, by one thread", 0},
	{"set-digest", NULL, "print only the sum of the rows' SHA-256, by all workers, which adds up over ranks", 0},
	{"incomplete", NULL, "a set that is still being packed, too", 0},
};

const cli_command cli_command_rows_stream = {
	.name = "rows stream",
	.operands = "DIR|SHARD...",
	.summary = "Delivers the rows of a set in batches, in an order that never changes",
	.details = "The line of a batch is its number, the id of its first row, and how many rows it has, with the\n"
		   "word padding after them where --tail pad delivers rows again. Batch b goes to rank b modulo W.\n",
	.run = rows_stream_run,
	CLI_OPTIONS(options),
};
