#include "tensors/derive.h"

#include "base/text.h"

#include <string.h>

static const char *const lists[] = {"match", "exclude", "rename"};

static size_t count_given(const cli_args *args, const char *name)
{
	size_t count = 0;
	for (size_t next = 0; cli_args_each(args, name, &next);)
		count++;
	return count;
}

const char *cli_derive_given(const cli_args *args)
{
	static const char *const others[] = {"dtype", "prefer"};
	for (size_t i = 0; i < COUNT_OF(lists); i++)
		if (cli_args_has(args, lists[i]))
			return lists[i];
	for (size_t i = 0; i < COUNT_OF(others); i++)
		if (cli_args_has(args, others[i]))
			return others[i];
	return NULL;
}

/* All values of an option, from *at on. */
static size_t take_list(const cli_args *args, const char *name, const char ***at, const char *const **out)
{
	const char **begin = *at, *text;
	for (size_t next = 0; (text = cli_args_each(args, name, &next));)
		*(*at)++ = text;
	*out = begin;
	return (size_t)(*at - begin);
}

int cli_derive_take(cli_derive *d, const cli_args *args, sherd_error *err)
{
	static const char *const types[] = {"F16", "BF16", "F32", NULL}, *const sides[] = {"first", "last", NULL};
	static const sherd_dtype dtypes[] = {SHERD_F16, SHERD_BF16, SHERD_F32};
	unsigned word = 0;
	size_t count = 0;
	for (size_t i = 0; i < COUNT_OF(lists); i++)
		count += count_given(args, lists[i]);
	d->texts = calloc(count + 1, sizeof(*d->texts));
	if (!d->texts)
		return cli_no_memory(err);
	const char **at = d->texts;
	sherd_derive_options *o = &d->options;
	o->match_count = take_list(args, "match", &at, &o->match);
	o->exclude_count = take_list(args, "exclude", &at, &o->exclude);
	o->rename_count = take_list(args, "rename", &at, &o->renames);
	o->drop_graph = cli_args_has(args, "drop-graph");
	if (cli_args_has(args, "dtype")) {
		TRY(cli_args_word(args, "dtype", types, &word, err));
		o->dtype = dtypes[word];
	}
	if (cli_args_has(args, "prefer")) {
		TRY(cli_args_word(args, "prefer", sides, &word, err));
		o->prefer = word ? SHERD_PREFER_LAST : SHERD_PREFER_FIRST;
	}
	d->any = args->count > 2 || cli_derive_given(args);
	return SHERD_OK;
}

void cli_derive_done(cli_derive *d)
{
	free(d->texts);
}

void cli_derive_tell(cli_state *cli, const cli_derive *d, const char *path, const sherd_bundle *bundle)
{
	const sherd_derive_result *r = &d->result;
	const char *type = d->options.dtype ? sherd_dtype_describe(d->options.dtype)->name : "";
	uint64_t overflowed = sherd_bundle_overflowed(bundle);
	char text[256];
	size_t used = (size_t)snprintf(text, sizeof(text), "%zu kept", r->tensors - r->cast);
	const struct {
		size_t count;
		const char *what, *more;
	} parts[] = {{r->cast, "cast to ", type},
	             {r->renamed, "renamed", ""},
	             {r->left_out, "left out", ""},
	             {r->overridden, "overridden", ""}};
	for (size_t i = 0; i < COUNT_OF(parts); i++)
		if (parts[i].count)
			used += (size_t)snprintf(text + used, sizeof(text) - used, ", %zu %s%s", parts[i].count,
			                         parts[i].what, parts[i].more);
	cli_out_note(&cli->out, "%s: of the tensors %s", path, text);
	if (r->uncast)
		cli_out_warn(&cli->out, path, "%zu tensor%s of a type that is not decoded here stay%s as %s", r->uncast,
		             cli_text_plural(r->uncast), r->uncast == 1 ? "s" : "",
		             r->uncast == 1 ? "it is" : "they are");
	if (overflowed)
		cli_out_warn(&cli->out, path, "%llu value%s too large for %s and became infinite",
		             (unsigned long long)overflowed, overflowed == 1 ? " was" : "s were", type);
}

void cli_derive_put(cli_doc *doc, const cli_derive *d, const sherd_bundle *bundle)
{
	const sherd_derive_result *r = &d->result;
	cli_doc_put_u64(doc, "kept", r->tensors - r->cast);
	cli_doc_put_u64(doc, "cast", r->cast);
	cli_doc_put_u64(doc, "renamed", r->renamed);
	cli_doc_put_u64(doc, "left_out", r->left_out);
	cli_doc_put_u64(doc, "overridden", r->overridden);
	cli_doc_put_u64(doc, "not_cast", r->uncast);
	cli_doc_put_u64(doc, "overflowed", sherd_bundle_overflowed(bundle));
}
