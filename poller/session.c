/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session.h"

#include <errno.h>
#include <string.h>

#include "focus/focus.h"
#include "util/sd-bus.h"
#include "util/util.h"

#define LOGIN "org.freedesktop.login1"
#define LOGIN_PATH "/org/freedesktop/login1"
#define LOGIN_MANAGER LOGIN ".Manager"
#define LOGIN_SEAT LOGIN ".Seat"
#define LOGIN_SESSION LOGIN ".Session"
#define SEAT0_PATH LOGIN_PATH "/seat/seat0"
/*
 * A session manager that hangs, or sends without end, must not delay polls: further messages wait for the
 * next poll.
 */
#define CALL_US 500000
#define MESSAGES_MAX 256
#define LOOKS_MAX 3

struct session_source {
        struct source source; /* first */
        sd_bus *bus;
        struct source *focus;
        const struct log *log;
        char path[128];   /* D-Bus path of the active session of seat0; "": none */
        bool seat_known;  /* it is known that this session, or none, is active */
        bool session_known;
        uid_t uid;        /* user of the active session */
        bool system;      /* it is a greeter or a lock screen */
        bool locked, sleeping;
        bool stale;       /* the properties must be read again */
        bool reported;    /* a state was reported to the focus source */
};

static int get_bool(struct session_source *self, const char *property, bool *ret)
{
        int value, err = sd_bus_get_property_trivial(self->bus, LOGIN, self->path, LOGIN_SESSION, property,
                                                     NULL, 'b', &value);

        if (err >= 0)
                *ret = value;
        return err;
}

/* Reads (so): the session's name and path; "/" if none is active. */
static int ask_active(struct session_source *self)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        const char *name, *path;
        int err = sd_bus_get_property(self->bus, LOGIN, SEAT0_PATH, LOGIN_SEAT, "ActiveSession", NULL, &reply,
                                      "(so)");

        if (err >= 0)
                err = sd_bus_message_read(reply, "(so)", &name, &path);
        if (err < 0)
                return err;
        snprintf(self->path, sizeof(self->path), "%s", *name ? path : "");
        return 0;
}

static int ask_user(struct session_source *self)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        const char *path;
        uint32_t uid;
        int err = sd_bus_get_property(self->bus, LOGIN, self->path, LOGIN_SESSION, "User", NULL, &reply,
                                      "(uo)");

        if (err >= 0)
                err = sd_bus_message_read(reply, "(uo)", &uid, &path);
        if (err >= 0)
                self->uid = uid;
        return err;
}

static void ask_class(struct session_source *self)
{
        _cleanup_free_ char *class = NULL;

        self->system = sd_bus_get_property_string(self->bus, LOGIN, self->path, LOGIN_SESSION, "Class", NULL,
                                                  &class) >= 0 &&
                       (strcmp(class, "greeter") == 0 || strcmp(class, "lock-screen") == 0);
}

static void ask(struct session_source *self)
{
        self->stale = false;
        self->locked = self->system = self->session_known = false;
        self->seat_known = ask_active(self) >= 0;
        if (!self->seat_known || !self->path[0])
                return;
        self->session_known = ask_user(self) >= 0;
        get_bool(self, "LockedHint", &self->locked);
        ask_class(self);
}

static bool may_speak(void *data, uid_t uid)
{
        const struct session_source *self = data;

        if (!self->seat_known)
                return true; /* no seat or no reply: accept every agent */
        return self->session_known && uid == self->uid && !self->system;
}

static void tell(struct session_source *self, uint64_t boottime_ns)
{
        self->reported = true;
        focus_set_locked(self->focus, boottime_ns, self->locked || self->system || self->sleeping);
        focus_session_changed(self->focus, boottime_ns);
        focus_look(self->focus, boottime_ns);
}

static int on_sleep(sd_bus_message *message, void *data, sd_bus_error *error)
{
        struct session_source *self = data;
        int going;

        if (sd_bus_message_read(message, "b", &going) >= 0) {
                self->sleeping = going;
                self->stale = self->source.due = true;
        }
        return 0;
}

static int on_change(sd_bus_message *message, void *data, sd_bus_error *error)
{
        ((struct session_source *)data)->stale = true;
        return 0;
}

static int fd_session(const struct source *source)
{
        return sd_bus_get_fd(((const struct session_source *)source)->bus);
}

/* Returns 0; >0: there are more messages; a negative errno: the manager is gone. */
static int take_messages(struct session_source *self)
{
        int more = 1;

        for (unsigned n = 0; more > 0 && n < MESSAGES_MAX; n++)
                more = sd_bus_process(self->bus, NULL);
        return more;
}

static void lose(struct session_source *self, int err)
{
        log_warning(self->log, "the session manager is gone: %s", strerror(-err));
        sd_bus_close(self->bus);
        self->seat_known = self->sleeping = self->stale = false;
        self->locked = self->system = false;
}

static void hear_session(struct source *source, uint64_t boottime_ns)
{
        struct session_source *self = (struct session_source *)source;
        int more = take_messages(self);

        for (unsigned n = 0; more >= 0 && self->stale && n < LOOKS_MAX; n++) {
                ask(self);
                more = take_messages(self); /* sd-bus may have queued signals while it waited for replies */
        }
        if (more < 0)
                lose(self, more);
        else if (more > 0)
                self->stale = true; /* messages in sd-bus's queue do not make its descriptor readable */
        tell(self, boottime_ns);
}

static int read_session(struct source *source, struct sample *sample)
{
        struct session_source *self = (struct session_source *)source;

        if (!self->reported || self->stale) /* the state at the start, and messages left by the last call */
                hear_session(source, sample->boottime_ns);
        return -ENODATA; /* the focus source writes the levels */
}

static void close_session(struct source *source)
{
        struct session_source *self = (struct session_source *)source;

        focus_set_guard(self->focus, NULL, NULL);
        sd_bus_flush_close_unref(self->bus);
        free(self);
}

static const struct source_ops session_ops = {
        .name = "session",
        .read = read_session,
        .close = close_session,
        .fd = fd_session,
        .hear = hear_session,
};

static int watch(struct session_source *self)
{
        static const char changes[] = "type='signal',sender='" LOGIN
                                      "',interface='org.freedesktop.DBus.Properties',"
                                      "member='PropertiesChanged',path_namespace='" LOGIN_PATH "'";
        int err = sd_bus_match_signal(self->bus, NULL, LOGIN, LOGIN_PATH, LOGIN_MANAGER, "PrepareForSleep",
                                      on_sleep, self);

        if (err >= 0)
                err = sd_bus_match_signal(self->bus, NULL, LOGIN, LOGIN_PATH, LOGIN_MANAGER, "SessionRemoved",
                                          on_change, self);
        if (err >= 0)
                err = sd_bus_add_match(self->bus, NULL, changes, on_change, self);
        return err;
}

int session_open(struct source *focus, const struct log *log, struct source **ret)
{
        struct session_source *self = calloc(1, sizeof(*self));

        if (!self)
                return -ENOMEM;
        self->source.ops = &session_ops;
        self->focus = focus;
        self->log = log;
        if (sd_bus_open_system(&self->bus) < 0) {
                free(self);
                return -ENODEV;
        }
        sd_bus_set_method_call_timeout(self->bus, CALL_US);
        if (watch(self) < 0) {
                close_session(&self->source);
                return -ENODEV;
        }
        ask(self);
        focus_set_guard(focus, may_speak, self);
        *ret = &self->source;
        return 0;
}
