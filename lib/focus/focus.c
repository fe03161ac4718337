/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "focus.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>

#include "focus-link.h"
#include "foreground.h"
#include "source/display-choice.h"
#include "source/display.h"
#include "uevent.h"
#include "util/util.h"
#include "vt.h"

struct focus {
        struct source source; /* first */
        int root_fd, epoll_fd, uevent_fd;
        struct apps *apps;
        const struct log *log;
        struct focus_link *link;
        struct vt *vt;
        struct foreground *foreground; /* NULL: agents and console */
        struct display_files *display;
        char *backlight; /* NULL: as set in joulecast.conf */
        struct screen_log changes;
        bool (*may_speak)(void *data, uid_t uid);
        void *guard_data;
        void (*sound)(void *data, const pid_t *pids, size_t n, size_t others);
        void *sound_data;
        void (*refresh)(void *data, uint32_t mhz);
        void *refresh_data;
        bool agent_knows;
        bool looked;
        uint64_t looked_ns;
};

static void close_focus(struct source *source)
{
        struct focus *focus = (struct focus *)source;

        focus_link_close(focus->link);
        vt_close(focus->vt);
        foreground_close(focus->foreground);
        display_close(focus->display);
        free(focus->backlight);
        screen_log_clear(&focus->changes);
        closep(&focus->uevent_fd);
        closep(&focus->epoll_fd);
        closep(&focus->root_fd);
        free(focus);
}

/* Notes the app of a window's client; unknown if no app is found. */
static void note_window(struct focus *focus, uint64_t boottime_ns, pid_t pid, uint64_t start_time,
                        const char *app_id)
{
        char app[APP_ID_MAX];
        bool known = apps_find_window(focus->apps, pid, start_time, app_id, app) == 0;

        screen_log_foreground(&focus->changes, boottime_ns, known, known ? app : "");
}

/* Without an agent: the foreground job of the text console, else unknown. */
static void ask_console(struct focus *focus, uint64_t boottime_ns)
{
        pid_t pid;

        if (focus->agent_knows || focus->foreground)
                return;
        if (focus->vt && vt_foreground(focus->vt, &pid) == 0 && !apps_is_desktop(focus->apps, pid))
                note_window(focus, boottime_ns, pid, 0, "");
        else
                screen_log_foreground(&focus->changes, boottime_ns, false, "");
}

/* Always read the active terminal, which clears the event. */
static void hear_console(struct focus *focus, uint64_t boottime_ns)
{
        vt_active(focus->vt);
        ask_console(focus, boottime_ns);
}

static void heard(void *data, const struct focus_message *message, uint64_t boottime_ns)
{
        struct focus *focus = data;

        focus->agent_knows = message && (message->have & FOCUS_KNOWN);
        if (!focus->agent_knows)
                ask_console(focus, boottime_ns);
        else if ((message->have & FOCUS_APP) && !(message->have & FOCUS_LOCKED))
                note_window(focus, boottime_ns, message->pid, message->start_time, message->app_id);
        else
                screen_log_foreground(&focus->changes, boottime_ns, true, "");
}

static bool may_speak(void *data, uid_t uid)
{
        const struct focus *focus = data;

        return !focus->may_speak || focus->may_speak(focus->guard_data, uid);
}

static void heard_sound(void *data, const pid_t *pids, size_t n, size_t others)
{
        const struct focus *focus = data;

        if (focus->sound)
                focus->sound(focus->sound_data, pids, n, others);
}

static void heard_refresh(void *data, uint32_t mhz)
{
        const struct focus *focus = data;

        if (focus->refresh)
                focus->refresh(focus->refresh_data, mhz);
}

static const struct focus_link_ops link_ops = { .may_speak = may_speak, .heard = heard, .sound = heard_sound,
                                                .refresh = heard_refresh };

void focus_look(struct source *source, uint64_t boottime_ns)
{
        struct focus *focus = (struct focus *)source;
        struct display_state state = { 0 };

        /* Again at each poll, as a driver may be loaded later. */
        if (!focus->display)
                display_open(focus->root_fd, focus->backlight, &focus->display);
        if (focus->display)
                display_read(focus->display, &state);
        screen_log_screen(&focus->changes, boottime_ns, state.screen_known, state.screen_on, state.brightness);
        screen_log_monitor(&focus->changes, boottime_ns, state.monitor_on);
        focus->looked = true;
        focus->looked_ns = boottime_ns;
}

/*
 * Blanking by the connector or bl_power causes no event. A change found at a poll happened at an unknown time since
 * the last look; the middle is right on average.
 */
static void look_at_poll(struct focus *focus, uint64_t boottime_ns)
{
        bool since = focus->looked && focus->looked_ns < boottime_ns;
        uint64_t when = since ? focus->looked_ns + (boottime_ns - focus->looked_ns) / 2 : boottime_ns;

        focus_look(&focus->source, when);
        focus->looked_ns = boottime_ns;
}

void focus_set_guard(struct source *source, bool (*guard)(void *data, uid_t uid), void *data)
{
        struct focus *focus = (struct focus *)source;

        focus->may_speak = guard;
        focus->guard_data = data;
}

void focus_set_sound(struct source *source, void (*sound)(void *data, const pid_t *pids, size_t n, size_t others),
                     void *data)
{
        struct focus *focus = (struct focus *)source;

        focus->sound = sound;
        focus->sound_data = data;
}

void focus_set_refresh(struct source *source, void (*refresh)(void *data, uint32_t mhz), void *data)
{
        struct focus *focus = (struct focus *)source;

        focus->refresh = refresh;
        focus->refresh_data = data;
}

void focus_session_changed(struct source *source, uint64_t boottime_ns)
{
        struct focus *focus = (struct focus *)source;

        if (focus->link)
                focus_link_recheck(focus->link, boottime_ns);
}

void focus_set_locked(struct source *source, uint64_t boottime_ns, bool locked)
{
        screen_log_locked(&((struct focus *)source)->changes, boottime_ns, locked);
}

const struct screen_inputs *focus_now(const struct source *source)
{
        return screen_log_now(&((const struct focus *)source)->changes);
}

static int fd_focus(const struct source *source)
{
        return ((const struct focus *)source)->epoll_fd;
}

/* Only sources with an event are read, since reading the consoles may read all processes. */
static void hear_focus(struct source *source, uint64_t boottime_ns)
{
        struct focus *focus = (struct focus *)source;
        struct epoll_event events[4];
        int n = epoll_wait(focus->epoll_fd, events, ARRAY_SIZE(events), 0);

        for (int i = 0; i < n; i++) {
                int fd = events[i].data.fd;

                if (focus->link && fd == focus_link_fd(focus->link))
                        focus_link_dispatch(focus->link, boottime_ns);
                else if (fd == focus->uevent_fd && uevent_read_screen(fd))
                        focus_look(source, boottime_ns);
                else if (focus->vt && fd == vt_fd(focus->vt))
                        hear_console(focus, boottime_ns);
                else if (focus->foreground && fd == foreground_fd(focus->foreground))
                        foreground_hear(focus->foreground, boottime_ns);
        }
}

static int watch(struct focus *focus, int fd, uint32_t events)
{
        struct epoll_event event = { .events = events, .data.fd = fd };

        return fd < 0 || epoll_ctl(focus->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : -errno;
}

static void poll_foreground(struct focus *focus, const struct sample *sample)
{
        int before_fd = foreground_fd(focus->foreground);

        foreground_poll(focus->foreground, sample);
        if (before_fd < 0)
                watch(focus, foreground_fd(focus->foreground), EPOLLIN); /* on error it is only read at polls */
}

static int read_focus(struct source *source, struct sample *sample)
{
        struct focus *focus = (struct focus *)source;

        hear_focus(source, sample->boottime_ns);
        if (focus->foreground)
                poll_foreground(focus, sample);
        ask_console(focus, sample->boottime_ns);
        look_at_poll(focus, sample->boottime_ns);
        if (focus->link)
                focus_link_tick(focus->link);
        return screen_log_drain(&focus->changes, sample);
}

static const struct source_ops focus_ops = {
        .name = "focus",
        .read = read_focus,
        .close = close_focus,
        .fd = fd_focus,
        .hear = hear_focus,
};

bool focus_is(const struct source *source)
{
        return source->ops == &focus_ops;
}

static int open_console(struct focus *focus)
{
        int err = vt_open(focus->root_fd, &focus->vt);

        if (err)
                return err == -ENODEV ? 0 : err;
        err = watch(focus, vt_fd(focus->vt), EPOLLPRI);
        return err == -EPERM ? 0 : err; /* epoll does not accept regular files, as in a machine tree */
}

static int open_link(struct focus *focus, const char *path)
{
        int err = focus_link_open(path, focus->root_fd, &link_ops, focus, focus->log, &focus->link);

        if (err) {
                log_warning(focus->log, "no focus agent can connect to %s: %s", path, strerror(-err));
                return 0;
        }
        return watch(focus, focus_link_fd(focus->link), EPOLLIN);
}

/* A name that does not exist (yet) is reported once. */
static int take_backlight(struct focus *focus, const char *wanted)
{
        char why[512];
        int err;

        if (!wanted)
                return 0;
        focus->backlight = strdup(wanted);
        err = focus->backlight ? display_explain_choice(focus->root_fd, wanted, why, sizeof(why)) : -ENOMEM;
        if (err == -ENOENT)
                log_error(focus->log, "%s", why);
        return err == -ENOENT ? 0 : err;
}

static int open_parts(struct focus *focus, const struct focus_options *options)
{
        int err;

        focus->root_fd = openat(options->root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        focus->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
        if (focus->root_fd < 0 || focus->epoll_fd < 0)
                return -errno;
        err = take_backlight(focus, options->backlight);
        if (!err && options->console)
                err = open_console(focus);
        if (!err && options->foreground)
                err = foreground_open(options->foreground, &focus->changes, focus->log, &focus->foreground);
        if (err)
                return err;
        focus->uevent_fd = uevent_open(); /* on error, as in a container, the screen is only read at polls */
        err = watch(focus, focus->uevent_fd, EPOLLIN);
        return err || !options->socket_path ? err : open_link(focus, options->socket_path);
}

int focus_open(const struct focus_options *options, struct source **ret)
{
        struct focus *focus = calloc(1, sizeof(*focus));
        int err;

        if (!focus)
                return -ENOMEM;
        focus->source.ops = &focus_ops;
        focus->apps = options->apps;
        focus->log = options->log;
        focus->root_fd = focus->epoll_fd = focus->uevent_fd = -1;
        err = open_parts(focus, options);
        if (err) {
                close_focus(&focus->source);
                return err;
        }
        *ret = &focus->source;
        return 0;
}
