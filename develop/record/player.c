/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <string.h>

#include "answer/options.h"
#include "player.h"
#include "util/units.h"
#include "util/util.h"

#define WAIT_MOST_NS (60 * NS_PER_S)     /* longest wait for a window, a text or quiet */
#define LOOK_EVERY_NS (20 * NS_PER_MS)   /* interval of looks while waiting */
#define KEY_EVERY_NS (20 * NS_PER_MS)    /* pause between two steps, as programs drop input that comes at once */
#define SEEN_KEPT (64u << 10)            /* most bytes of the program's output that are kept, for wait-text */

struct player {
        const struct script *script;
        struct stage *stage;
        size_t at;
        uint64_t since_ns; /* when the present step began; 0: it has not begun */
        uint64_t done_ns;  /* when the step before it was done */
        uint64_t changed_ns, next_ns;
        char *seen;
        size_t seen_length;
};

static int open_stage(enum player_where where, struct child_place *place, struct stage **ret)
{
        switch (where) {
        case PLAYER_TERMINAL:
                return stage_terminal(place, ret);
        case PLAYER_WAYLAND:
                return stage_wayland(place, ret);
        default:
                return stage_display(place, ret);
        }
}

int player_new(const struct script *script, enum player_where where, struct child_place *place, struct player **ret)
{
        struct player *player = calloc(1, sizeof(*player));
        int err;

        if (!player)
                return -ENOMEM;
        player->script = script;
        err = open_stage(where, place, &player->stage);
        if (err) {
                free(player);
                return err;
        }
        for (size_t i = 0; player->stage->ops->expect && i < script->n; i++)
                player->stage->ops->expect(player->stage, &script->steps[i]);
        *ret = player;
        return 0;
}

void player_free(struct player *player)
{
        if (!player)
                return;
        player->stage->ops->free(player->stage);
        free(player->seen);
        free(player);
}

void player_started(struct player *player)
{
        if (player->stage->ops->started)
                player->stage->ops->started(player->stage);
}

int player_fd(const struct player *player)
{
        return player->stage->ops->fd(player->stage);
}

bool player_ended(const struct player *player)
{
        return player->at == player->script->n;
}

uint64_t player_wait_ns(const struct player *player, uint64_t now_ns)
{
        if (player_ended(player))
                return UINT64_MAX;
        return player->next_ns > now_ns ? player->next_ns - now_ns : 0;
}

/* Has the program shown a text? Only output after the text that was waited for before counts. */
static bool saw_text(struct player *player, const char *text)
{
        char *at = player->seen ? memmem(player->seen, player->seen_length, text, strlen(text)) : NULL;

        if (!at)
                return false;
        player->seen_length -= (size_t)(at - player->seen) + strlen(text);
        memmove(player->seen, at + strlen(text), player->seen_length);
        return true;
}

static int missing(const struct player *player, const struct script_step *step)
{
        char text[128];

        log_error(&program_log, "the input script's line %u (%s %s): it did not come within %d s; the "
                  "program may have to be slower, or it shows something else", step->line, script_verbs[step->verb],
                  util_printable(step->text ? step->text : "", text, sizeof(text)), (int)(WAIT_MOST_NS / NS_PER_S));
        return -ETIMEDOUT;
}

static int end_program(struct stage *stage)
{
        int err = stage->ops->key(stage, "ctrl+c");

        return err ? err : stage->ops->key(stage, "ctrl+d");
}

/* Moves the pointer to the step's place, and presses or releases its button. */
static int do_pointer(struct stage *stage, const struct script_step *step)
{
        unsigned times = step->verb == SCRIPT_SCROLL ? step->count : 1;
        int err = stage->ops->move(stage, step->x, step->y);

        if (step->verb == SCRIPT_MOVE)
                return err;
        for (; !err && times > 0; times--) {
                if (step->verb != SCRIPT_RELEASE)
                        err = stage->ops->button(stage, step->button, step->modifiers, true);
                if (!err && step->verb != SCRIPT_PRESS)
                        err = stage->ops->button(stage, step->button, step->modifiers, false);
        }
        return err;
}

/* 1: done; 0: not yet; a negative errno. */
static int do_step(struct player *player, const struct script_step *step, uint64_t now_ns)
{
        struct stage *stage = player->stage;
        bool done = false;
        int err;

        switch (step->verb) {
        case SCRIPT_KEY:
                err = stage->ops->key(stage, step->text);
                return err ? err : 1;
        case SCRIPT_TYPE:
                err = stage->ops->type(stage, step->text);
                return err ? err : 1;
        case SCRIPT_CLICK:
        case SCRIPT_PRESS:
        case SCRIPT_RELEASE:
        case SCRIPT_MOVE:
        case SCRIPT_SCROLL:
                err = do_pointer(stage, step);
                return err ? err : 1;
        case SCRIPT_END:
                err = end_program(stage);
                return err ? err : 1;
        case SCRIPT_SLEEP:
                return now_ns - player->done_ns >= step->ns;
        case SCRIPT_WAIT_QUIET:
                done = now_ns - MAX(player->changed_ns, player->since_ns) >= step->ns;
                break;
        case SCRIPT_WAIT_TEXT:
                done = saw_text(player, step->text);
                break;
        case SCRIPT_WAIT_WINDOW:
                done = stage->ops->has_window(stage, step->text);
                break;
        case SCRIPT_CLOSE_WINDOW:
                err = stage->ops->close_window(stage, step->text);
                if (err < 0)
                        return err;
                done = err > 0;
                break;
        }
        if (!done && now_ns - player->since_ns > WAIT_MOST_NS)
                return missing(player, step);
        return done;
}

static int fail(const struct script_step *step, int err)
{
        if (err == -EINVAL)
                log_error(&program_log, "the input script's line %u: there is no key of that name or letter: "
                                        "%s", step->line, step->text);
        return err;
}

/* Gives up if the program does not end after its script, as we would wait for ever. */
static int wait_for_end(struct player *player, uint64_t now_ns)
{
        if (player->since_ns == 0)
                player->since_ns = now_ns;
        if (now_ns - player->since_ns <= WAIT_MOST_NS)
                return 0;
        log_error(&program_log, "the program did not end within %d s after the input script; let the script's last "
                                "step end it",
                  (int)(WAIT_MOST_NS / NS_PER_S));
        return -ETIMEDOUT;
}

/* When to look next. A pause is exact, as it counts from the step before it, and the next step follows at once. */
static uint64_t next_look(const struct player *player, const struct script_step *step, bool done, uint64_t now_ns)
{
        if (step->verb == SCRIPT_SLEEP)
                return done ? now_ns : player->done_ns + step->ns;
        return now_ns + (done ? KEY_EVERY_NS : LOOK_EVERY_NS);
}

int player_step(struct player *player, uint64_t now_ns)
{
        if (player->stage->ops->look(player->stage, &player->seen, &player->seen_length))
                player->changed_ns = now_ns;
        if (player->seen_length > SEEN_KEPT) {
                memmove(player->seen, player->seen + player->seen_length - SEEN_KEPT, SEEN_KEPT);
                player->seen_length = SEEN_KEPT;
        }
        if (player_ended(player))
                return wait_for_end(player, now_ns);
        while (!player_ended(player) && now_ns >= player->next_ns) {
                const struct script_step *step = &player->script->steps[player->at];
                int done;

                if (player->since_ns == 0)
                        player->since_ns = now_ns;
                if (player->done_ns == 0)
                        player->done_ns = now_ns;
                done = do_step(player, step, now_ns);
                if (done < 0)
                        return fail(step, done);
                player->next_ns = next_look(player, step, done, now_ns);
                if (done) {
                        player->at++;
                        player->since_ns = 0;
                        player->done_ns = now_ns;
                }
        }
        return 0;
}
