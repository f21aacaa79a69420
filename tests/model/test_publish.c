/* Model: the protocol of src/engine/publish/README.md, every interleaving of it. Writers, the ranks of one, a
 * collector, a pruner and a reader take their steps in every order; each may stop for ever anywhere, and a write whose
 * answer is lost arrives later or never. Nobody is kept out by a claim: locks and leases say who may try, so here
 * everybody may.
 *
 * It holds with all rules, and finds a bad state with any one of them left out. SHERD_TRACE=1 prints the steps that
 * lead there. */
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each bit is a rule that is left out. */
typedef enum rules {
	ALL_RULES = 0,
	BASE_BEFORE_CLAIM = 1u << 0,   /* the head's identity is read before the claim can be seen */
	NAMES_OF_ONE = 1u << 1,        /* a name is given by one attempt only */
	PUBLISH_IF_BASE = 1u << 2,     /* publishing is a write on the condition that the head is the base */
	READ_BACK = 1u << 3,           /* a write without an answer is not taken for one that failed */
	BY_PARTS = 1u << 4,            /* a head is ours if it names our parts, not if it is what we wrote */
	UNKNOWN_KEEPS = 1u << 5,       /* who cannot read the head removes nothing */
	COLLECTOR_FENCES = 1u << 6,    /* clearing changes the head first */
	LOSER_FENCES = 1u << 7,        /* so does a writer that gives up while its write may be under way */
	ABORTER_FENCES = 1u << 8,      /* and a rank that aborts */
	HEAD_STAYS = 1u << 9,          /* the head is never deleted, it becomes vacant */
	VACATE_IF_SEEN = 1u << 10,     /* and that only if it is the one that was looked at */
	REUSE_OF_BASE = 1u << 11,      /* parts of others are named again only if the base names them */
	READER_LOOKS_AGAIN = 1u << 12, /* what is gone is not corrupt if the head has changed */
} rules;

/* Who takes part. X is made by one rank or two, Y by one. */
typedef enum role {
	TWO_RANKS = 1u << 0,
	WRITER_Y = 1u << 1,
	COLLECTOR = 1u << 2,
	PRUNER = 1u << 3,
	READER = 1u << 4,
} role;

typedef enum step {
	START,
	CLAIMED, /* with the base in hand, or without it when that rule is left out */
	PART,
	CHECK, /* are the parts of all ranks there? */
	SEND,
	LOOK,
	FENCE,
	UNDO,
	DROP, /* has replaced a set, whose parts go */
	END,
} step;

enum { X = 0, Y = 1, PARTS_OF_X = 0x3, PART_OF_Y = 0x4 };

/* Everything there is. Version 0 of the head: there is none. */
typedef union world {
	struct {
		uint64_t version : 3, names : 2, parts : 3, published : 2;
		uint64_t base_x : 3, base_y : 3, reuses : 1, replaces : 1;
		uint64_t steps : 12, tried : 3, late : 3; /* of the writers X0, X1, Y */
		uint64_t collecting : 2, collect_version : 3, collect_whom : 1;
		uint64_t pruning : 2, prune_version : 3, prune_seen : 2;
		uint64_t reading : 2, read_version : 3, read_names : 2;
		uint64_t lost_update : 1, lied : 1;
	} is;
	uint64_t bits;
} world;

_Static_assert(sizeof(world) == 8, "a state is one word");

typedef struct arrival {
	world state;
	uint32_t from;
	uint16_t who;
	uint16_t what;
} arrival;

typedef struct search {
	unsigned without, cast, last_version;
	arrival *queue;
	uint32_t *table; /* of places in the queue, + 1 */
	uint32_t count, room, at;
	bool bad;
} search;

/* ---- steps that were taken */

static const char *const actors[] = {"X0", "X1", "Y", "collector", "pruner", "reader", "network"};
enum { X0, X1, WY, COLLECTOR_IS, PRUNER_IS, READER_IS, NETWORK_IS };

static const char *const deeds[] = {
	"reads the head",    "claims",           "writes its part",       "finds all parts", "publishes",
	"is refused",        "gets no answer",   "sees its parts named",  "has lost",        "tries again",
	"gives up",          "fences",           "removes parts",         "cannot read",     "aborts",
	"takes it for dead", "vacates",          "deletes the head",      "opens",           "finds all it opened",
	"finds it gone",     "calls it corrupt", "delivers a late write", "picks",
};
enum {
	READS,
	CLAIMS,
	WRITES,
	FINDS_ALL,
	PUBLISHES,
	REFUSED,
	NO_ANSWER,
	SEES_ITSELF,
	LOST,
	RETRIES,
	GIVES_UP,
	FENCES,
	REMOVES,
	CANNOT_READ,
	ABORTS,
	PRESUMES,
	VACATES,
	DELETES,
	OPENS,
	FINDS_OPENED,
	FINDS_GONE,
	CALLS_CORRUPT,
	DELIVERS,
	PICKS,
};

static uint32_t place_of(const search *s, world w)
{
	uint32_t mask = 2 * s->room - 1, at = (uint32_t)((w.bits * 0x9E3779B97F4A7C15u) >> 32) & mask;
	while (s->table[at] && s->queue[s->table[at] - 1].state.bits != w.bits)
		at = (at + 1) & mask;
	return at;
}

static void grow(search *s)
{
	s->room = s->room ? 2 * s->room : 1u << 12;
	s->queue = realloc(s->queue, s->room * sizeof(*s->queue));
	free(s->table);
	s->table = calloc(2 * (size_t)s->room, sizeof(*s->table));
	assert_non_null(s->queue);
	assert_non_null(s->table);
	for (uint32_t i = 0; i < s->count; i++)
		s->table[place_of(s, s->queue[i].state)] = i + 1;
}

static void go(search *s, world w, int who, int what)
{
	if (s->count == s->room)
		grow(s);
	uint32_t at = place_of(s, w);
	if (s->table[at])
		return;
	s->queue[s->count] = (arrival){w, s->at, (uint16_t)who, (uint16_t)what};
	s->table[at] = ++s->count;
}

static bool without(const search *s, rules rule)
{
	return s->without & rule;
}

/* ---- the head and its parts */

static unsigned parts_of(const search *s, unsigned attempt)
{
	if (without(s, NAMES_OF_ONE))
		return s->cast & TWO_RANKS ? PARTS_OF_X : 1;
	return attempt == Y ? PART_OF_Y : s->cast & TWO_RANKS ? PARTS_OF_X : 1;
}

static unsigned part_of(const search *s, int who)
{
	return who == WY ? parts_of(s, Y) : 1u << who;
}

static bool is_whole(const search *s, world w, unsigned names)
{
	unsigned want = (names & 1 ? parts_of(s, X) : 0) | (names & 2 ? parts_of(s, Y) : 0);
	return (w.is.parts & want) == want;
}

static bool is_bad(const search *s, world w)
{
	return !is_whole(s, w, w.is.names) || w.is.lost_update || w.is.lied;
}

static world head_becomes(world w, unsigned names)
{
	w.is.version++;
	w.is.names = names & 3;
	w.is.published |= names & 3;
	return w;
}

static bool may_change(const search *s, world w)
{
	return w.is.version < s->last_version;
}

/* ---- writers */

static step step_of(world w, int who)
{
	return (step)(w.is.steps >> (4 * who) & 15);
}

static world at_step(world w, int who, step to)
{
	unsigned others = w.is.steps & ~(15u << (4 * who));
	w.is.steps = (others | (unsigned)to << (4 * who)) & 0xfff;
	return w;
}

static bool has(uint64_t bits, int who)
{
	return bits >> who & 1;
}

static unsigned base_of(world w, int who)
{
	return who == WY ? w.is.base_y : w.is.base_x;
}

static int attempt_of(int who)
{
	return who == WY ? Y : X;
}

/* What the head will name. */
static unsigned names_by(world w, int who)
{
	return who == WY ? 2u | w.is.reuses : 1u;
}

static world with_base(const search *s, world w, int who)
{
	if (who != WY) {
		w.is.base_x = w.is.version;
		return w;
	}
	w.is.base_y = w.is.version;
	/* A set takes the place of the one that is there; a version names again what the one before it names. */
	bool there = w.is.names & 1;
	w.is.replaces = there && s->cast & TWO_RANKS;
	w.is.reuses = (there && !w.is.replaces) || (without(s, REUSE_OF_BASE) && is_whole(s, w, 1));
	return w;
}

/* An unconditional write replaces what its writer never saw. */
static world put_head(world w, int who)
{
	bool seen = w.is.version == base_of(w, who);
	w.is.lost_update |= !seen && (w.is.names & ~names_by(w, who));
	return head_becomes(w, names_by(w, who));
}

static world succeed(world w, int who)
{
	w.is.lied |= !has(w.is.published, attempt_of(who));
	return at_step(w, who, who == WY && w.is.replaces ? DROP : END);
}

static void begin(search *s, world w, int who)
{
	/* The second rank takes the base from the claim that the first has made. */
	if (who == X1) {
		if (step_of(w, X0) >= PART)
			go(s, at_step(w, who, PART), who, CLAIMS);
		return;
	}
	if (without(s, BASE_BEFORE_CLAIM))
		go(s, at_step(w, who, CLAIMED), who, CLAIMS);
	else
		go(s, at_step(with_base(s, w, who), who, CLAIMED), who, READS);
}

static void send(search *s, world w, int who)
{
	bool fits = w.is.version == base_of(w, who) || without(s, PUBLISH_IF_BASE);
	if (!fits)
		go(s, at_step(w, who, LOOK), who, REFUSED);
	else if (may_change(s, w))
		go(s, succeed(put_head(w, who), who), who, PUBLISHES);
	if (has(w.is.tried, who))
		return;
	world lost = at_step(w, who, without(s, READ_BACK) ? UNDO : LOOK);
	lost.is.late |= 1u << who;
	lost.is.tried |= 1u << who;
	go(s, lost, who, NO_ANSWER);
}

static void look(search *s, world w, int who)
{
	bool named = without(s, BY_PARTS) ? w.is.names == names_by(w, who) : has(w.is.names, attempt_of(who));
	go(s, at_step(w, who, without(s, UNKNOWN_KEEPS) ? UNDO : END), who, CANNOT_READ);
	if (named)
		go(s, succeed(w, who), who, SEES_ITSELF);
	else if (w.is.version != base_of(w, who))
		go(s, at_step(w, who, UNDO), who, LOST);
	else {
		go(s, at_step(w, who, SEND), who, RETRIES);
		go(s, at_step(w, who, without(s, LOSER_FENCES) ? UNDO : FENCE), who, GIVES_UP);
	}
}

static void fence(search *s, world w, int who)
{
	if (w.is.version != base_of(w, who))
		go(s, at_step(w, who, LOOK), who, REFUSED);
	else if (may_change(s, w))
		go(s, at_step(head_becomes(w, w.is.names), who, UNDO), who, FENCES);
}

static world less_parts(world w, unsigned parts)
{
	w.is.parts &= ~parts & 7;
	return w;
}

static void write_step(search *s, world w, int who)
{
	step now = step_of(w, who);
	if (now == START)
		begin(s, w, who);
	else if (now == CLAIMED)
		go(s, at_step(without(s, BASE_BEFORE_CLAIM) ? with_base(s, w, who) : w, who, PART), who,
		   without(s, BASE_BEFORE_CLAIM) ? READS : CLAIMS);
	else if (now == PART) {
		w.is.parts = (w.is.parts | part_of(s, who)) & 7;
		go(s, at_step(w, who, CHECK), who, WRITES);
	} else if (now == CHECK && is_whole(s, w, 1u << attempt_of(who)))
		go(s, at_step(w, who, SEND), who, FINDS_ALL);
	else if (now == SEND)
		send(s, w, who);
	else if (now == LOOK)
		look(s, w, who);
	else if (now == FENCE)
		fence(s, w, who);
	else if (now == UNDO)
		go(s, at_step(less_parts(w, part_of(s, who)), who, END), who, REMOVES);
	else if (now == DROP)
		go(s, at_step(less_parts(w, parts_of(s, X)), who, END), who, REMOVES);
	/* A rank may fail for reasons of its own, whatever the other one does meanwhile. */
	if (who == X1 && (now == CHECK || now == SEND))
		go(s, at_step(w, who, without(s, ABORTER_FENCES) ? UNDO : FENCE), who, ABORTS);
}

/* A write that had no answer arrives. */
static void deliver(search *s, world w, int who)
{
	if (!has(w.is.late, who))
		return;
	bool fits = w.is.version == base_of(w, who) || without(s, PUBLISH_IF_BASE);
	w.is.late = w.is.late & ~(1u << who) & 7;
	if (!fits)
		go(s, w, NETWORK_IS, DELIVERS);
	else if (may_change(s, w))
		go(s, put_head(w, who), NETWORK_IS, DELIVERS);
}

/* ---- those who remove */

/* Anybody who can be seen may be taken for dead at any moment. */
static void collect(search *s, world w)
{
	enum { IDLE, TO_FENCE, TO_REMOVE };
	world to = w;
	if (w.is.collecting == IDLE) {
		for (unsigned whom = X; whom <= Y; whom++) {
			step now = step_of(w, whom == Y ? WY : X0);
			bool claimed = now > CLAIMED || (now == CLAIMED && without(s, BASE_BEFORE_CLAIM));
			if (!claimed || has(w.is.names, (int)whom))
				continue;
			to.is.collecting = without(s, COLLECTOR_FENCES) ? TO_REMOVE : TO_FENCE;
			to.is.collect_version = w.is.version;
			to.is.collect_whom = whom & 1;
			go(s, to, COLLECTOR_IS, PRESUMES);
		}
		return;
	}
	bool fits = w.is.version == w.is.collect_version;
	if (w.is.collecting == TO_FENCE && fits) {
		to = head_becomes(w, w.is.names);
		to.is.collecting = TO_REMOVE;
		to.is.collect_version = 0;
		if (may_change(s, w))
			go(s, to, COLLECTOR_IS, FENCES);
		return;
	}
	if (w.is.collecting == TO_REMOVE)
		to = less_parts(w, parts_of(s, w.is.collect_whom));
	to.is.collecting = IDLE;
	to.is.collect_version = 0;
	to.is.collect_whom = 0;
	go(s, to, COLLECTOR_IS, w.is.collecting == TO_REMOVE ? REMOVES : REFUSED);
}

/* Takes one name out of the head, and then its parts away. */
static void prune(search *s, world w)
{
	enum { IDLE, TO_VACATE, TO_REMOVE };
	world to = w;
	unsigned goes = w.is.prune_seen == 2 ? 2 : 1, left = w.is.prune_seen & ~goes;
	if (w.is.pruning == IDLE) {
		if (!w.is.names)
			return;
		to.is.pruning = TO_VACATE;
		to.is.prune_version = w.is.version;
		to.is.prune_seen = w.is.names;
		go(s, to, PRUNER_IS, PICKS);
		return;
	}
	bool fits = w.is.version == w.is.prune_version || without(s, VACATE_IF_SEEN);
	if (w.is.pruning == TO_VACATE && fits) {
		if (!may_change(s, w))
			return;
		to = head_becomes(w, left);
		/* What is not there any more is the base of who looked before there was anything. */
		if (without(s, HEAD_STAYS))
			to.is.version = to.is.names = 0;
		to.is.lost_update |= (w.is.names & ~goes & ~left) != 0;
		to.is.pruning = TO_REMOVE;
		to.is.prune_version = 0;
		go(s, to, PRUNER_IS, without(s, HEAD_STAYS) ? DELETES : VACATES);
		return;
	}
	if (w.is.pruning == TO_REMOVE)
		to = less_parts(w, parts_of(s, goes == 1 ? X : Y));
	to.is.pruning = IDLE;
	to.is.prune_version = 0;
	to.is.prune_seen = 0;
	go(s, to, PRUNER_IS, w.is.pruning == TO_REMOVE ? REMOVES : REFUSED);
}

static void read_set(search *s, world w)
{
	enum { IDLE, OPEN, DONE };
	world to = w;
	if (w.is.reading == IDLE && w.is.names) {
		to.is.reading = OPEN;
		to.is.read_version = w.is.version;
		to.is.read_names = w.is.names;
		go(s, to, READER_IS, OPENS);
	}
	if (w.is.reading != OPEN)
		return;
	bool whole = is_whole(s, w, w.is.read_names);
	bool told = !whole && !without(s, READER_LOOKS_AGAIN) && w.is.version != w.is.read_version;
	to.is.reading = DONE;
	to.is.read_version = 0;
	to.is.read_names = 0;
	to.is.lied |= !whole && !told;
	go(s, to, READER_IS, whole ? FINDS_OPENED : told ? FINDS_GONE : CALLS_CORRUPT);
}

/* ---- all of them */

static void all_steps(search *s, world w)
{
	for (int who = X0; who <= WY; who++) {
		if ((who == X1 && !(s->cast & TWO_RANKS)) || (who == WY && !(s->cast & WRITER_Y)))
			continue;
		write_step(s, w, who);
		deliver(s, w, who);
	}
	if (s->cast & COLLECTOR)
		collect(s, w);
	if (s->cast & PRUNER)
		prune(s, w);
	if (s->cast & READER)
		read_set(s, w);
}

static void print_steps(const search *s, uint32_t at)
{
	if (at)
		print_steps(s, s->queue[at].from);
	if (at)
		(void)printf("  %s %s\n", actors[s->queue[at].who], deeds[s->queue[at].what]);
}

typedef struct ensemble {
	unsigned who;
	unsigned last_version; /* of the head: so often it changes at most */
} ensemble;

static const ensemble casts[] = {
	{WRITER_Y | PRUNER | READER, 6},
	{TWO_RANKS | PRUNER | READER, 6},
	{TWO_RANKS | WRITER_Y | COLLECTOR, 3},
	{WRITER_Y | COLLECTOR | PRUNER, 5},
};

/* Explores all there is; true when nothing bad can come of it. */
static bool holds(const ensemble *cast, unsigned left_out)
{
	search s = {.without = left_out, .cast = cast->who, .last_version = cast->last_version};
	grow(&s);
	go(&s, (world){.bits = 0}, NETWORK_IS, DELIVERS);
	for (; s.at < s.count && !s.bad; s.at++) {
		world w = s.queue[s.at].state;
		s.bad = is_bad(&s, w);
		if (!s.bad)
			all_steps(&s, w);
	}
	if (getenv("SHERD_TRACE")) {
		(void)printf("cast %#x without %#x: %u states%s\n", cast->who, left_out, s.count,
		             s.bad ? ", and then:" : "");
		if (s.bad)
			print_steps(&s, s.at - 1);
	}
	free(s.queue);
	free(s.table);
	return !s.bad;
}

TEST(with_all_rules_no_order_of_steps_leaves_a_hole_or_loses_what_was_published)
{
	for (size_t i = 0; i < sizeof(casts) / sizeof(*casts); i++)
		assert_true(holds(&casts[i], ALL_RULES));
}

TEST(each_rule_left_out_leaves_one)
{
	for (unsigned rule = 1; rule <= READER_LOOKS_AGAIN; rule <<= 1) {
		bool all = true;
		for (size_t i = 0; i < sizeof(casts) / sizeof(*casts) && all; i++)
			all = holds(&casts[i], rule);
		if (all)
			fail_msg("rule %#x is not needed by anything that is explored", rule);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(with_all_rules_no_order_of_steps_leaves_a_hole_or_loses_what_was_published),
		cmocka_unit_test(each_rule_left_out_leaves_one),
	};
	return cmocka_run_group_tests_name("publish model", tests, NULL, NULL);
}
