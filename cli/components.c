#include "components.h"

#include "base/doc.h"
#include "cli.h"

#include <sherd/version.h>

#include <string.h>
#include <sys/prctl.h>

#ifdef __has_feature
#define UNDER_SANITIZER (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UNDER_SANITIZER 1
#else
#define UNDER_SANITIZER 0
#endif

const sherd_scheme *const *cli_schemes(void)
{
	static const sherd_scheme *all[32]; /* more than anybody has; those beyond could not be opened */
	size_t count = 0;
	for (cli_component_fn *const *at = cli_component_list; *at; at++)
		for (const sherd_scheme *const *s = (*at)()->schemes; s && *s && count + 1 < COUNT_OF(all); s++)
			all[count++] = *s;
	all[count] = NULL;
	return all;
}

void cli_hide_secrets(const char *path)
{
	for (const sherd_scheme *const *s = cli_schemes(); *s; s++) {
		size_t len = strlen((*s)->name);
		/* Sanitizers look for leaks as debuggers look into a process. */
		if (!UNDER_SANITIZER && strncmp(path, (*s)->name, len) == 0 && path[len] == ':')
			(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	}
}

/* A line of its own, where no document is asked for. */
static void show_line(cli_out *out, const char *what, const char *name, const char *with)
{
	if (!out->json)
		cli_out_printf(out, "%s %s%s%s%s\n", what, name, with ? " (" : "", with ? with : "", with ? ")" : "");
}

static void show_stores(cli_out *out, cli_doc *doc, const sherd_scheme *const *schemes)
{
	for (; *schemes; schemes++) {
		show_line(out, "store", (*schemes)->name, NULL);
		cli_doc_text(doc, (*schemes)->name);
	}
}

int cli_components_show(cli_out *out, sherd_error *err)
{
	cli_doc doc = cli_doc_begin(out);
	show_line(out, "sherd", sherd_version(), NULL);
	cli_doc_put_text(&doc, "version", sherd_version());
	cli_doc_put_open(&doc, "stores", '[');
	show_stores(out, &doc, sherd_store_schemes());
	show_stores(out, &doc, cli_schemes());
	cli_doc_close(&doc, ']');
	cli_doc_put_open(&doc, "components", '[');
	for (cli_component_fn *const *at = cli_component_list; *at; at++) {
		const sherd_component *c = (*at)();
		show_line(out, "component", c->name, c->with);
		cli_doc_open(&doc, '{');
		cli_doc_put_text(&doc, "name", c->name);
		cli_doc_put_text(&doc, "with", c->with);
		cli_doc_close(&doc, '}');
	}
	cli_doc_close(&doc, ']');
	return cli_doc_end(&doc, SHERD_OK, err);
}
