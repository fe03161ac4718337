/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sessions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/sd-bus.h"
#include "util/units.h"
#include "util/util.h"

#define LOGIN "org.freedesktop.login1"
#define LOGIN_PATH "/org/freedesktop/login1"
#define CALL_US 500000 /* a hanging manager must not delay the run ... */
#define ASK_NS NS_PER_S /* ... nor one that answers each call late */
/* Nor one that sends without end; the rest is read next time. */
#define MESSAGES_MAX 256
#define LOOKS_MAX 3

#define SESSIONS_MAX 16

struct session {
        char path[128];
        bool active, idle, locked;
};

struct sessions {
        sd_bus *bus; /* NULL: the bus is gone */
        const struct log *log;
        struct session list[SESSIONS_MAX];
        size_t n;
        bool stale; /* something changed: list again */
};

static int get_bool(sd_bus *bus, const char *path, const char *property, bool *ret)
{
        int value, err = sd_bus_get_property_trivial(bus, LOGIN, path, LOGIN ".Session", property, NULL, 'b',
                                                     &value);

        if (err >= 0)
                *ret = value;
        return err;
}

/* -ENODATA: a greeter or lock screen, which appear without a user. */
static int check_user(sd_bus *bus, const char *path)
{
        _cleanup_free_ char *class = NULL;
        int err = sd_bus_get_property_string(bus, LOGIN, path, LOGIN ".Session", "Class", NULL, &class);

        return err < 0 ? err : strcmp(class, "user") == 0 ? 0 : -ENODATA;
}

static int ask_one(sd_bus *bus, const char *path, struct session *ret)
{
        struct session session = { 0 };
        int err = check_user(bus, path);

        if (strlen(path) >= sizeof(session.path))
                return -ENAMETOOLONG;
        strcpy(session.path, path);
        if (err >= 0)
                err = get_bool(bus, path, "Active", &session.active);
        if (err >= 0)
                err = get_bool(bus, path, "IdleHint", &session.idle);
        if (err < 0)
                return err;
        get_bool(bus, path, "LockedHint", &session.locked); /* since systemd 230 */
        *ret = session;
        return 0;
}

/*
 * a(susso): name, user id, user name, seat, path. A session that ended meanwhile is left out; one that does
 * not answer in time makes the whole call fail, because it would look new the next time.
 */
static int ask(struct sessions *sessions, struct session *list, size_t *n)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        uint64_t end_ns = util_boottime_ns() + ASK_NS;
        const char *seat, *path;
        int err = sd_bus_call_method(sessions->bus, LOGIN, LOGIN_PATH, LOGIN ".Manager", "ListSessions", NULL,
                                     &reply, "");

        *n = 0;
        if (err >= 0)
                err = sd_bus_message_enter_container(reply, 'a', "(susso)");
        while (err >= 0 && *n < SESSIONS_MAX &&
               (err = sd_bus_message_read(reply, "(susso)", NULL, NULL, NULL, &seat, &path)) > 0) {
                int answer = *seat ? ask_one(sessions->bus, path, &list[*n]) : -ENODATA;

                if (answer == -ETIMEDOUT || util_boottime_ns() > end_ns)
                        return -ETIMEDOUT;
                *n += answer >= 0;
        }
        return err < 0 ? err : 0;
}

static const struct session *find(const struct sessions *sessions, const char *path)
{
        for (size_t i = 0; i < sessions->n; i++)
                if (strcmp(sessions->list[i].path, path) == 0)
                        return &sessions->list[i];
        return NULL;
}

/* A session that began meanwhile and is not on the screen does not count. */
static unsigned compare(const struct session *before, const struct session *now)
{
        static const struct session none;

        before = before ? before : &none;
        return (now->active && !before->active) || (before->locked && !now->locked) ? SESSIONS_ENTERED
               : before->idle && !now->idle                                         ? SESSIONS_WOKEN
                                                                                    : 0;
}

static unsigned look_again(struct sessions *sessions)
{
        struct session list[SESSIONS_MAX];
        unsigned news = 0;
        size_t n;

        sessions->stale = false;
        if (ask(sessions, list, &n) < 0)
                return 0;
        for (size_t i = 0; i < n; i++)
                news |= compare(find(sessions, list[i].path), &list[i]);
        memcpy(sessions->list, list, n * sizeof(list[0]));
        sessions->n = n;
        return news;
}

static int on_change(sd_bus_message *message, void *data, sd_bus_error *error)
{
        ((struct sessions *)data)->stale = true;
        return 0;
}

/* The manager's own IdleHint is of no use: our inhibitor makes it false. */
static int watch(struct sessions *sessions)
{
        static const char changes[] = "type='signal',sender='" LOGIN
                                      "',interface='org.freedesktop.DBus.Properties',"
                                      "member='PropertiesChanged',path_namespace='" LOGIN_PATH "/session'";
        int err = sd_bus_match_signal(sessions->bus, NULL, LOGIN, LOGIN_PATH, LOGIN ".Manager", "SessionNew",
                                      on_change, sessions);

        return err < 0 ? err : sd_bus_add_match(sessions->bus, NULL, changes, on_change, sessions);
}

int sessions_open(const struct log *log, struct sessions **ret)
{
        struct sessions *sessions = calloc(1, sizeof(*sessions));

        if (!sessions)
                return -ENOMEM;
        sessions->log = log;
        if (sd_bus_open_system(&sessions->bus) < 0 ||
            sd_bus_set_method_call_timeout(sessions->bus, CALL_US) < 0 || watch(sessions) < 0 ||
            ask(sessions, sessions->list, &sessions->n) < 0) {
                sessions_close(sessions);
                return -ENODATA;
        }
        *ret = sessions;
        return 0;
}

void sessions_close(struct sessions *sessions)
{
        if (!sessions)
                return;
        sd_bus_flush_close_unref(sessions->bus);
        free(sessions);
}

int sessions_fd(const struct sessions *sessions)
{
        return sessions->bus ? sd_bus_get_fd(sessions->bus) : -1;
}

/* 0; >0: there are more; a negative errno: the bus is gone. */
static int take_messages(struct sessions *sessions)
{
        int more = 1;

        for (unsigned n = 0; more > 0 && n < MESSAGES_MAX; n++)
                more = sd_bus_process(sessions->bus, NULL);
        return more;
}

/* Reading answers may queue more signals, for which the descriptor does not wake again. */
unsigned sessions_hear(struct sessions *sessions)
{
        unsigned news = 0;
        int more;

        if (!sessions->bus)
                return 0;
        more = take_messages(sessions);
        for (unsigned n = 0; more >= 0 && sessions->stale && n < LOOKS_MAX; n++) {
                news |= look_again(sessions);
                more = take_messages(sessions);
        }
        if (more > 0)
                sessions->stale = true;
        if (more < 0) {
                log_warning(sessions->log,
                            "the system bus is gone (%s): only input devices show now whether the machine "
                            "is used",
                            strerror(-more));
                sd_bus_close(sessions->bus);
                sessions->bus = sd_bus_unref(sessions->bus);
        }
        return news;
}
