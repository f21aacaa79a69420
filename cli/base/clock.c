#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

int64_t cli_clock_now(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int cli_clock_read(cli_clock *clock, sherd_error *err)
{
	const char *text = getenv("SOURCE_DATE_EPOCH");
	*clock = (cli_clock){0};
	if (!text || !*text) {
		clock->time_ns = cli_clock_now();
		return SHERD_OK;
	}
	char *end;
	errno = 0;
	long long seconds = strtoll(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end || seconds > INT64_MAX / 1000000000)
		return cli_usage(err, "SOURCE_DATE_EPOCH must be a number of seconds");
	clock->fixed = true;
	clock->time_ns = (int64_t)seconds * 1000000000;
	return SHERD_OK;
}

int cli_clock_time(int64_t *time_ns, sherd_error *err)
{
	cli_clock clock;
	TRY(cli_clock_read(&clock, err));
	*time_ns = clock.time_ns;
	return SHERD_OK;
}

int cli_clock_set_id(const cli_clock *clock, cli_state *cli, const cli_place *place, const sherd_bundle *bundle,
                     bool cut, const sherd_ckpt_save_options *options, sherd_set_id *out, sherd_error *err)
{
	sherd_ckpt_save_options saving = *options;
	if (!clock->fixed)
		return sherd_set_id_random(out, err);
	saving.time_ns = clock->time_ns;
	saving.pool = cli->pool;
	saving.progress = &cli->progress;
	return sherd_set_id_derive(out, place->store, place->key, bundle, cut, &saving, err);
}
