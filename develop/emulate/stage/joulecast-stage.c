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

#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <X11/extensions/XShm.h>
#include <X11/extensions/Xdamage.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <time.h>
#include <unistd.h>

#include "../record.h"
#include "answer/answer.h"
#include "answer/options.h"
#include "harness/script-file.h"
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

/* The picture that an X server shows, as light and colours. */

struct picture;

/*
 * Every second pixel of every second row counts, and those of the next such row are shifted. Such a stratified sample
 * is hardly less exact.
 */
#define STEP 2

struct picture {
        Display *x;
        Damage damage;
        int damage_event;
        XImage *image;
        XShmSegmentInfo memory;
        bool attached, dirty;
        double light[256]; /* linear light for each value of an sRGB channel */
};

static void picture_free(struct picture *picture)
{
        if (!picture)
                return;
        if (picture->attached)
                XShmDetach(picture->x, &picture->memory);
        if (picture->image) {
                picture->image->data = NULL; /* it does not own this */
                XDestroyImage(picture->image);
        }
        if (picture->memory.shmaddr)
                shmdt(picture->memory.shmaddr);
        if (picture->x)
                XCloseDisplay(picture->x);
        free(picture);
}

/* Makes a shared-memory image of the screen. Its pixels must take 32 bits (24 of them used), as with Xvfb. */
static int share_memory(struct picture *picture)
{
        int screen = DefaultScreen(picture->x);

        if (!XShmQueryExtension(picture->x))
                return -EIO;
        picture->image = XShmCreateImage(picture->x, DefaultVisual(picture->x, screen),
                                         (unsigned)DefaultDepth(picture->x, screen), ZPixmap, NULL,
                                         &picture->memory, (unsigned)DisplayWidth(picture->x, screen),
                                         (unsigned)DisplayHeight(picture->x, screen));
        if (!picture->image || picture->image->bits_per_pixel != 32)
                return -EIO;
        picture->memory.shmid =
                shmget(IPC_PRIVATE, (size_t)picture->image->bytes_per_line * (size_t)picture->image->height,
                       IPC_CREAT | 0600);
        if (picture->memory.shmid < 0)
                return -EIO;
        picture->memory.shmaddr = shmat(picture->memory.shmid, NULL, 0);
        if (picture->memory.shmaddr == (char *)-1)
                picture->memory.shmaddr = NULL;
        else
                picture->attached = XShmAttach(picture->x, &picture->memory) && XSync(picture->x, False);
        picture->image->data = picture->memory.shmaddr;
        shmctl(picture->memory.shmid, IPC_RMID, NULL); /* the segment is freed when its last user detaches */
        return picture->attached ? 0 : -EIO;
}

/* 0, and picture_free() it; -EIO: there is no such server, or it has neither shared memory nor XDamage. */
static int picture_new(const char *display, struct picture **ret)
{
        struct picture *picture = calloc(1, sizeof(*picture));
        int error;

        if (!picture)
                return -ENOMEM;
        picture->x = XOpenDisplay(display);
        if (!picture->x || share_memory(picture) < 0 ||
            !XDamageQueryExtension(picture->x, &picture->damage_event, &error)) {
                picture_free(picture);
                return -EIO;
        }
        picture->damage = XDamageCreate(picture->x, DefaultRootWindow(picture->x), XDamageReportNonEmpty);
        XFlush(picture->x);
        picture->dirty = true;
        for (int i = 0; i < 256; i++)
                /* IEC 61966-2-1. */
                picture->light[i] = i <= 10 ? i / 255.0 / 12.92 : pow((i / 255.0 + 0.055) / 1.055, 2.4);
        *ret = picture;
        return 0;
}

/* Values of each channel are counted first, which needs no arithmetic on each pixel. */
static void measure(const struct picture *picture, struct frame_record *ret)
{
        static const int shifts[3] = { 16, 8, 0 };
        const XImage *image = picture->image;
        uint32_t values[3][256];
        uint64_t n = 0;

        memset(values, 0, sizeof(values));
        memset(ret, 0, sizeof(*ret));
        for (int y = 0; y < image->height; y += STEP) {
                const char *row = picture->memory.shmaddr + (ptrdiff_t)y * image->bytes_per_line;

                for (int x = (y / STEP) % STEP; x < image->width; x += STEP, n++) {
                        uint32_t pixel;

                        memcpy(&pixel, row + (ptrdiff_t)x * 4, sizeof(pixel));
                        for (int c = 0; c < 3; c++)
                                values[c][pixel >> shifts[c] & 0xff]++;
                        ret->colours[(pixel >> 12 & 0xf00) | (pixel >> 8 & 0xf0) | (pixel >> 4 & 0xf)]++;
                }
        }
        for (int c = 0; c < 3; c++)
                for (int i = 0; i < 256; i++)
                        ret->light[c] += values[c][i] * picture->light[i] / (double)MAX(n, UINT64_C(1));
}

/*
 * Takes the picture, if anything was drawn since the last call, or this is the first one. 1, with all of @ret but its
 * time; 0: nothing was drawn; -EIO.
 */
static int picture_look(struct picture *picture, struct frame_record *ret)
{
        while (XPending(picture->x) > 0) {
                XEvent event;

                XNextEvent(picture->x, &event);
                picture->dirty |= event.type == picture->damage_event + XDamageNotify;
        }
        if (!picture->dirty)
                return 0;
        picture->dirty = false;
        /* Before, so that what is drawn meanwhile counts again. */
        XDamageSubtract(picture->x, picture->damage, None, None);
        if (!XShmGetImage(picture->x, DefaultRootWindow(picture->x), picture->image, 0, 0, AllPlanes))
                return -EIO;
        measure(picture, ret);
        return 1;
}

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
