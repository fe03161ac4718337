/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The service with a session manager that never stops sending: a child, on a bus of our own. */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>

#include "bus.h"
#include "check.h"
#include "child.h"
#include "focus/focus.h"
#include "session.h"
#include "util/units.h"

#define LOGIN "org.freedesktop.login1"
#define LOGIN_PATH "/org/freedesktop/login1"
#define SEAT_PATH LOGIN_PATH "/seat/seat0"
#define SESSION_PATH LOGIN_PATH "/session/c1"
#define CHATTER_S 60 /* a poll ends long before */

/* The child's session. If it chatters, each request emits signals before the reply. */
static struct mock {
        int locked, idle, chatters;
} mock = { .chatters = 1 };

static void chatter(sd_bus *bus)
{
        for (unsigned i = 0; i < 3 && mock.chatters; i++)
                sd_bus_emit_signal(bus, LOGIN_PATH, LOGIN ".Manager", "SessionRemoved", "so", "c9",
                                   LOGIN_PATH "/session/c9");
}

static int get_active(sd_bus *bus, const char *path, const char *interface, const char *property,
                      sd_bus_message *reply, void *data, sd_bus_error *error)
{
        chatter(bus);
        return sd_bus_message_append(reply, "(so)", "c1", SESSION_PATH);
}

static int get_user(sd_bus *bus, const char *path, const char *interface, const char *property,
                    sd_bus_message *reply, void *data, sd_bus_error *error)
{
        chatter(bus);
        return sd_bus_message_append(reply, "(uo)", 1000, LOGIN_PATH "/user/1000");
}

static int get_class(sd_bus *bus, const char *path, const char *interface, const char *property,
                     sd_bus_message *reply, void *data, sd_bus_error *error)
{
        chatter(bus);
        return sd_bus_message_append(reply, "s", "user");
}

static const sd_bus_vtable manager_table[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_SIGNAL("SessionRemoved", "so", 0),
        SD_BUS_SIGNAL("PrepareForSleep", "b", 0),
        SD_BUS_VTABLE_END,
};
static const sd_bus_vtable seat_table[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_PROPERTY("ActiveSession", "(so)", get_active, 0, 0),
        SD_BUS_VTABLE_END,
};
static const sd_bus_vtable session_table[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_PROPERTY("User", "(uo)", get_user, 0, 0),
        SD_BUS_PROPERTY("Class", "s", get_class, 0, 0),
        SD_BUS_PROPERTY("IdleHint", "b", NULL, offsetof(struct mock, idle), 0),
        SD_BUS_PROPERTY("LockedHint", "b", NULL, offsetof(struct mock, locked),
                        SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_VTABLE_END,
};

/* Carries out a command byte. l: stops chattering and locks the session; s: the machine suspends; w: it resumes. */
static void act(sd_bus *bus, char word)
{
        if (word == 'l') {
                mock = (struct mock){ .locked = 1 };
                sd_bus_emit_properties_changed(bus, SESSION_PATH, LOGIN ".Session", "LockedHint", NULL);
        } else {
                sd_bus_emit_signal(bus, LOGIN_PATH, LOGIN ".Manager", "PrepareForSleep", "b", word == 's');
        }
        sd_bus_flush(bus);
}

static void serve(int from_fd)
{
        sd_bus *bus = NULL;

        if (sd_bus_open_system(&bus) < 0 ||
            sd_bus_add_object_vtable(bus, NULL, LOGIN_PATH, LOGIN ".Manager", manager_table, NULL) < 0 ||
            sd_bus_add_object_vtable(bus, NULL, SEAT_PATH, LOGIN ".Seat", seat_table, NULL) < 0 ||
            sd_bus_add_object_vtable(bus, NULL, SESSION_PATH, LOGIN ".Session", session_table, &mock) < 0 ||
            sd_bus_request_name(bus, LOGIN, 0) < 0)
                _exit(1);
        for (;;) {
                struct pollfd fds[] = { { sd_bus_get_fd(bus), POLLIN, 0 }, { from_fd, POLLIN, 0 } };
                char word;

                while (sd_bus_process(bus, NULL) > 0)
                        ;
                if (poll(fds, 2, -1) < 0)
                        _exit(1);
                if (fds[1].revents && read(from_fd, &word, 1) != 1)
                        _exit(0);
                if (fds[1].revents)
                        act(bus, word);
        }
}

static bool manager_answers(void)
{
        sd_bus *bus = NULL;
        sd_bus_message *reply = NULL;
        bool there = sd_bus_open_system(&bus) >= 0 &&
                     sd_bus_get_property(bus, LOGIN, SEAT_PATH, LOGIN ".Seat", "ActiveSession", NULL,
                                         &reply, "(so)") >= 0;

        sd_bus_message_unref(reply);
        sd_bus_flush_close_unref(bus);
        return there;
}

static uint64_t now_ns(void)
{
        struct timespec now;

        clock_gettime(CLOCK_BOOTTIME, &now);
        return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Each end of a sleep wants a poll, once. */
static void sleeps_are_due(struct source *session, int to_fd)
{
        struct pollfd fd = { .fd = session->ops->fd(session), .events = POLLIN };

        check(!session->due);
        for (const char *word = "sw"; *word; word++) {
                check_int(write(to_fd, word, 1), 1);
                for (unsigned i = 0; i < 50 && !session->due; i++)
                        if (poll(&fd, 1, 200) > 0)
                                session->ops->hear(session, now_ns());
                check(session->due);
                session->due = false;
        }
}

/* A poll reads a bounded number of messages, and later polls or events go on until the last one is read. */
static void hears_a_chatterer(int to_fd)
{
        struct focus_options options = { .root_fd = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
        struct sample sample = { .boottime_ns = now_ns() };
        struct source *focus = NULL, *session = NULL;
        struct pollfd fd = { .events = POLLIN };

        check_int(focus_open(&options, &focus), 0);
        close(options.root_fd);
        check_int(session_open(focus, NULL, &session), 0);
        fd.fd = session->ops->fd(session);
        for (unsigned i = 0; i < 3; i++) {
                check_int(session->ops->read(session, &sample), -ENODATA);
                check(!focus_now(focus)->locked);
                session->ops->hear(session, now_ns());
        }
        check_int(write(to_fd, "l", 1), 1);
        for (unsigned i = 0; i < 50 && !focus_now(focus)->locked; i++) {
                sample.boottime_ns = now_ns();
                session->ops->read(session, &sample);
                if (poll(&fd, 1, 200) > 0)
                        session->ops->hear(session, now_ns());
        }
        check(focus_now(focus)->locked);
        sleeps_are_due(session, to_fd);
        session->ops->close(session);
        focus->ops->close(focus);
}

int main(void)
{
        struct bus bus;
        int pipe_fds[2];
        pid_t manager;

        if (!bus_make(&bus) || pipe(pipe_fds) < 0)
                return 1;
        if (!bus_start(&bus)) {
                printf("no dbus-daemon could be started here\n");
                bus_remove(&bus);
                return 77;
        }
        manager = start_child();
        if (manager == 0) {
                close(pipe_fds[1]);
                serve(pipe_fds[0]);
        }
        check(wait_until(manager_answers));
        alarm(CHATTER_S);
        hears_a_chatterer(pipe_fds[1]);
        end_process(manager);
        bus_remove(&bus);
        return check_result();
}
