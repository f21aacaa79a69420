#include "base/watch.h"

#include <signal.h>
#include <time.h>

static volatile sig_atomic_t interrupted;

static void on_signal(int signal)
{
	(void)signal;
	interrupted = 1;
}

static double seconds(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* When the work that reports began, and when the bar was last drawn. Only the progress callback uses them, which is
 * never called by two threads at once. */
static double began, drawn;
/* Lines in place of a bar. */
static bool plain;

static bool update(void *arg, uint64_t done, uint64_t total)
{
	cli_out *out = arg;
	double now = seconds();
	if (began == 0)
		began = now;
	if (plain && now - began > 1 && now - drawn > 5) {
		drawn = now;
		cli_out_step(out, done, total, now - began);
	} else if (!plain && now - began > 0.5 && now - drawn > 0.1) {
		drawn = now;
		cli_out_bar(out, done, total, now - began);
	}
	return !interrupted;
}

static bool update_unseen(void *arg, uint64_t done, uint64_t total)
{
	(void)arg, (void)done, (void)total;
	return !interrupted;
}

int cli_watch_begin(cli_state *cli, const cli_args *args, sherd_error *err)
{
	enum { AUTO, PLAIN, NONE };
	static const char *const ways[] = {"auto", "plain", "none", NULL};
	unsigned way = AUTO;
	TRY(cli_args_word(args, "progress", ways, &way, err));
	static const int stopping[] = {SIGINT, SIGTERM};
	for (size_t i = 0; i < COUNT_OF(stopping); i++) {
		struct sigaction before,
			action = {.sa_handler = on_signal, .sa_flags = (int)(SA_RESTART | SA_RESETHAND)};
		/* Whoever started us in the background had SIGINT ignored, and means it. */
		if (sigaction(stopping[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			(void)sigaction(stopping[i], &action, NULL);
	}
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);
	plain = way == PLAIN;
	bool seen = !cli->out.quiet && (plain || (way == AUTO && cli_out_has_terminal()));
	cli->progress = (sherd_progress){.update = seen ? update : update_unseen, .arg = &cli->out};
	cli->waiting = (sherd_progress){.update = update_unseen};
	return SHERD_OK;
}

int cli_watch_check(sherd_error *err)
{
	return interrupted ? cli_fail(err, SHERD_ECANCELLED, "cancelled", "interrupted") : SHERD_OK;
}

int cli_watch_blame(int rc, sherd_error *err)
{
	return rc == SHERD_ECANCELLED ? cli_watch_check(err) : rc;
}
