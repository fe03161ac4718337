/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where an emulated app shows itself: an X server or a terminal of its own, into which an input script is
 * played, and whose pictures
 * are written down. `joulecast emulate` starts it, and ends it by closing their connection. It is a program
 * of its own as it loads Xlib, and as it must not be slowed with the app.
 *
 * Usage: joulecast-stage CONNECTION FRAMES display|terminal WIDTHxHEIGHT [SCRIPT]; the first two are descriptors.
 */

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "answer/answer.h"
#include "answer/options.h"
#include "harness/script-file.h"
#include "picture.h"
#include "record/player.h"
#include "util/units.h"
#include "util/util.h"
#include "util/words.h"

#define LOOK_NS NS_PER_S     /* from picture to picture */
#define FRAMES_MAX 20000     /* different ones; then the last one counts */

struct state {
        int connection, frames;
        struct script script;
        struct child_place place;
        struct stage *stage;     /* without a script */
        struct player *player;
        struct picture *picture;
        struct frame_record last;
        size_t n_frames;
        uint64_t next_ns;
};

static int open_stage(struct state *state, bool terminal, const char *script)
{
        int err = script ? script_file_read(script, &program_log, &state->script) : 0;

        if (!err && script)
                err = player_new(&state->script, terminal ? PLAYER_TERMINAL : PLAYER_DISPLAY, &state->place,
                                 &state->player);
        else if (!err)
                err = stage_display(&state->place, &state->stage);
        if (!err && !terminal && (err = picture_new(state->place.display, &state->picture)) < 0)
                log_error(&program_log, "the X server for the app has no shared memory or no XDamage, so its screen "
                          "cannot be read");
        return err;
}

/* Where the app shall show itself. */
static int tell_place(const struct state *state)
{
        const char *place = state->place.terminal ? ttyname(state->place.fds[0]) : state->place.display;

        return place && dprintf(state->connection, "%s\n", place) > 0 ? 0 : -EIO;
}

/* A picture that differs from the one before. */
static int look(struct state *state, uint64_t at_ns)
{
        struct frame_record frame;
        int got;

        if (!state->picture || at_ns < state->next_ns || state->n_frames == FRAMES_MAX)
                return 0;
        state->next_ns = at_ns + LOOK_NS;
        got = picture_look(state->picture, &frame);
        if (got < 0)
                log_error(&program_log, "the app's screen cannot be read: its X server has failed");
        if (got <= 0 || (state->n_frames && memcmp(frame.colours, state->last.colours, sizeof(frame.colours)) == 0 &&
                         memcmp(frame.light, state->last.light, sizeof(frame.light)) == 0))
                return got < 0 ? got : 0;
        frame.time_ns = (int64_t)at_ns;
        state->last = frame;
        state->n_frames++;
        return write(state->frames, &frame, sizeof(frame)) == sizeof(frame) ? 0 : -EIO;
}

/* From the app's start, when it gets a byte, to its end, when the connection is closed. */
static int play(struct state *state)
{
        struct pollfd polled[] = { { state->connection, POLLIN, 0 },
                                   { state->player ? player_fd(state->player) : -1, POLLIN, 0 } };
        int err = 0;
        char byte;

        if (read(state->connection, &byte, 1) != 1)
                return 0;
        while (!err) {
                uint64_t at_ns = util_clock_ns(CLOCK_MONOTONIC), wait_ns = state->picture ? LOOK_NS : UINT64_MAX;

                if (state->player)
                        wait_ns = MIN(wait_ns, player_wait_ns(state->player, at_ns));
                if (poll(polled, ARRAY_SIZE(polled), wait_ns > LOOK_NS ? -1 : (int)(wait_ns / NS_PER_MS) + 1) < 0 &&
                    errno != EINTR)
                        return -errno;
                if (polled[0].revents) {
                        if (!state->player || player_ended(state->player))
                                return 0;
                        log_error(&program_log, "the app ended before its input script did, so it did not do all "
                                                "of that");
                        return -ECANCELED;
                }
                at_ns = util_clock_ns(CLOCK_MONOTONIC);
                err = look(state, at_ns);
                if (!err && state->player)
                        err = player_step(state->player, at_ns);
        }
        return err;
}

static int parse_fd(const char *word)
{
        uint64_t fd;

        return util_parse_u64(word, &fd) == 0 && fd < 65536 ? (int)fd : -1;
}

int main(int argc, char **argv)
{
        struct state state = { .place = CHILD_NOWHERE };
        char screen[64];
        bool terminal;
        int err;

        util_hold_standard_fds();
        util_end_on_shorter_files();
        words_start();
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        signal(SIGINT, SIG_IGN); /* typed for the app */
        signal(SIGQUIT, SIG_IGN);
        signal(SIGPIPE, SIG_IGN);
        state.connection = argc >= 5 ? parse_fd(argv[1]) : -1;
        state.frames = argc >= 5 ? parse_fd(argv[2]) : -1;
        if (state.connection < 0 || state.frames < 0) {
                log_error(&program_log, "joulecast-stage is a part of joulecast emulate --input");
                return CODE_USAGE;
        }
        terminal = strcmp(argv[3], "terminal") == 0;
        snprintf(screen, sizeof(screen), "%sx24", argv[4]);
        state.place.screen = screen;
        err = open_stage(&state, terminal, argc > 5 ? argv[5] : NULL);
        err = err ? err : tell_place(&state);
        err = err ? err : play(&state);
        picture_free(state.picture);
        player_free(state.player);
        if (state.stage)
                state.stage->ops->free(state.stage);
        script_clear(&state.script);
        return err ? CODE_FAILED : CODE_OK;
}
