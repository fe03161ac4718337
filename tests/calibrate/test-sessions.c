/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * User sessions as reported by logind, on a bus of our own
 * where a child plays logind; and the guard.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>

#include "bus.h"
#include "check.h"
#include "child.h"
#include "hold/guard.h"
#include "hold/sessions.h"
#include "tree.h"
#include "util/units.h"
#include "util/util.h"

#define LOGIN "org.freedesktop.login1"
#define LOGIN_PATH "/org/freedesktop/login1"
#define OBJECT LOGIN ".Session"

/* The child's sessions: a seat's greeter, its user, a remote login, and one that starts later. */
static struct mock {
        const char *id, *path, *class, *seat;
        int active, idle, locked, there, slow;
} mocks[] = {
        { "c0", LOGIN_PATH "/session/c0", "greeter", "seat0", 0, 1, 0, 1 },
        { "c1", LOGIN_PATH "/session/c1", "user", "seat0", 1, 0, 0, 1 },
        { "c2", LOGIN_PATH "/session/c2", "user", "", 1, 0, 0, 1 },
        { "c3", LOGIN_PATH "/session/c3", "user", "seat0", 0, 0, 0, 0 },
};

/* Each ListSessions emits SessionNew before its reply. */
static bool chatters;
static bool dawdles; /* each reply is late, but within the timeout */

static int list_sessions(sd_bus_message *message, void *data, sd_bus_error *error)
{
        sd_bus_message *reply = NULL;
        int err = sd_bus_message_new_method_return(message, &reply);

        if (chatters)
                sd_bus_emit_signal(sd_bus_message_get_bus(message), LOGIN_PATH, LOGIN ".Manager",
                                   "SessionNew", "so", mocks[0].id, mocks[0].path);
        if (err >= 0)
                err = sd_bus_message_open_container(reply, 'a', "(susso)");
        for (size_t i = 0; err >= 0 && i < ARRAY_SIZE(mocks); i++)
                if (mocks[i].there)
                        err = sd_bus_message_append(reply, "(susso)", mocks[i].id, 1000, "u", mocks[i].seat,
                                                    mocks[i].path);
        if (err >= 0)
                err = sd_bus_message_close_container(reply);
        if (err >= 0)
                err = sd_bus_send(NULL, reply, NULL);
        sd_bus_message_unref(reply);
        return err;
}

static const sd_bus_vtable manager_table[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD("ListSessions", "", "a(susso)", list_sessions, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_SIGNAL("SessionNew", "so", 0),
        SD_BUS_VTABLE_END,
};

/* A slow session's first reply takes longer than the timeout. */
static int get_class(sd_bus *bus, const char *path, const char *interface, const char *property,
                     sd_bus_message *reply, void *data, sd_bus_error *error)
{
        struct mock *mock = data;

        if (mock->slow || dawdles)
                usleep(mock->slow ? 700000 : 300000);
        mock->slow = 0;
        return sd_bus_message_append(reply, "s", mock->class);
}

static int get_flag(sd_bus *bus, const char *path, const char *interface, const char *property,
                    sd_bus_message *reply, void *data, sd_bus_error *error)
{
        if (dawdles)
                usleep(300000);
        return sd_bus_message_append(reply, "b", *(const int *)data);
}

static const sd_bus_vtable session_table[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_PROPERTY("Class", "s", get_class, 0, 0),
        SD_BUS_PROPERTY("Active", "b", get_flag, offsetof(struct mock, active),
                        SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("IdleHint", "b", get_flag, offsetof(struct mock, idle),
                        SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("LockedHint", "b", get_flag, offsetof(struct mock, locked),
                        SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_VTABLE_END,
};

/*
 * @word is a letter and a session's number: "a1" makes session c1 active, "A1" makes it inactive,
 * "s1" makes its next reply slow. "c1": the child always emits signals. "d1": each reply is late.
 */
static void change(sd_bus *bus, const char *word)
{
        struct mock *mock = &mocks[word[1] - '0'];

        switch (word[0]) {
        case 'a':
        case 'A':
                mock->active = word[0] == 'a';
                sd_bus_emit_properties_changed(bus, mock->path, OBJECT, "Active", NULL);
                break;
        case 'i':
        case 'I':
                mock->idle = word[0] == 'i';
                sd_bus_emit_properties_changed(bus, mock->path, OBJECT, "IdleHint", NULL);
                break;
        case 'l':
        case 'L':
                mock->locked = word[0] == 'l';
                sd_bus_emit_properties_changed(bus, mock->path, OBJECT, "LockedHint", NULL);
                break;
        case 's':
                mock->slow = 1;
                sd_bus_emit_properties_changed(bus, mock->path, OBJECT, "IdleHint", NULL);
                break;
        case 'c':
        case 'C':
                chatters = word[0] == 'c';
                sd_bus_emit_properties_changed(bus, mock->path, OBJECT, "IdleHint", NULL);
                break;
        case 'd':
        case 'D':
                dawdles = word[0] == 'd';
                sd_bus_emit_properties_changed(bus, mock->path, OBJECT, "IdleHint", NULL);
                break;
        case 'n':
                mock->there = mock->active = 1;
                sd_bus_emit_signal(bus, LOGIN_PATH, LOGIN ".Manager", "SessionNew", "so", mock->id,
                                   mock->path);
                break;
        default:
                _exit(1);
        }
        sd_bus_flush(bus);
}

static void serve(int from_fd)
{
        sd_bus *bus = NULL;

        if (sd_bus_open_system(&bus) < 0 ||
            sd_bus_add_object_vtable(bus, NULL, LOGIN_PATH, LOGIN ".Manager", manager_table, NULL) < 0)
                _exit(1);
        for (size_t i = 0; i < ARRAY_SIZE(mocks); i++)
                sd_bus_add_object_vtable(bus, NULL, mocks[i].path, OBJECT, session_table, &mocks[i]);
        if (sd_bus_request_name(bus, LOGIN, 0) < 0)
                _exit(1);
        for (;;) {
                struct pollfd fds[] = { { .fd = sd_bus_get_fd(bus), .events = POLLIN },
                                        { from_fd, POLLIN, 0 } };
                char word[2];

                while (sd_bus_process(bus, NULL) > 0)
                        ;
                if (poll(fds, 2, -1) < 0)
                        _exit(1);
                if (fds[1].revents && read(from_fd, word, 2) != 2)
                        _exit(0);
                if (fds[1].revents)
                        change(bus, word);
        }
}

static int to_fd;

static void say(const char *word)
{
        check_int(write(to_fd, word, 2), 2);
}

static bool manager_answers(void)
{
        struct sessions *sessions = NULL;
        bool there = sessions_open(NULL, &sessions) == 0;

        sessions_close(sessions);
        return there;
}

/* All events after @word: each causes a signal, and the change itself follows a moment later. */
static unsigned heard(struct sessions *sessions, const char *word)
{
        struct pollfd fd = { .fd = sessions_fd(sessions), .events = POLLIN };
        unsigned news = 0;

        say(word);
        for (unsigned i = 0; i < 100 && news == 0 && poll(&fd, 1, i == 0 ? 5000 : 200) > 0; i++)
                news |= sessions_hear(sessions);
        return news;
}

static void tells_users(void)
{
        static const struct {
                const char *word;
                unsigned want;
                const char *why;
        } steps[] = {
                { "I1", 0, "never idle, as many desktops are" },
                { "i1", 0, "goes idle" },
                { "I1", SESSIONS_WOKEN, "woken" },
                { "l1", 0, "locks itself" },
                { "i1", 0, "and idles" },
                { "L1", SESSIONS_ENTERED, "unlocked" },
                { "A1", 0, "another console" },
                { "a1", SESSIONS_ENTERED, "and back" },
                { "I0", 0, "a greeter" },
                { "a0", 0, "a greeter shows itself" },
                { "i2", 0, "a login without a seat" },
                { "I2", 0, "which is no longer idle" },
                { "n3", SESSIONS_ENTERED, "somebody logs in" },
                { "n3", 0, "that is known" },
                { "s1", 0, "the manager does not answer in time" },
                { "i0", 0, "and does again" },
                { "i1", 0, "idles" },
                { "d1", 0, "each answer comes late" },
                { "I1", 0, "and all of them too late" },
                { "D1", SESSIONS_WOKEN, "in time again" },
                { "I0", 0, "nobody came in" },
                { "i0", 0, "meanwhile" },
                { "c1", 0, "never falls silent" },
                { "i1", 0, "nor now" },
                { "I1", SESSIONS_WOKEN, "woken all the same" },
                { "C1", 0, "silent again" },
        };
        struct sessions *sessions = NULL;

        check_int(sessions_open(NULL, &sessions), 0);
        check_int(sessions_hear(sessions), 0); /* the state at the start is no event */
        for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
                unsigned news = heard(sessions, steps[i].word);

                if (news != steps[i].want)
                        fprintf(stderr, "%s: %s\n", steps[i].word, steps[i].why);
                check_int(news, steps[i].want);
        }
        sessions_close(sessions);
}

static uint64_t now_ns(void)
{
        struct timespec now;

        clock_gettime(CLOCK_BOOTTIME, &now);
        return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static int judge(struct guard *guard, double s)
{
        const struct sample sample = {
                .boottime_ns = now_ns() + (uint64_t)(s * (double)NS_PER_S),
                .have = SAMPLE_BATTERY,
                .battery = { .have = BATTERY_CAPACITY,
                             .status = BATTERY_DISCHARGING,
                             .capacity_percent = 80 },
        };
        char reason[64] = "";
        int err = guard_judge(guard, &sample, reason, sizeof(reason));

        check_text(reason, err ? "somebody uses the machine" : "");
        return err;
}

/* Time that a wait takes after @word: @s seconds, or less if there is an event. */
static double wait_s(struct guard *guard, const char *word, double s)
{
        uint64_t before = now_ns();

        say(word);
        check_int(guard_wait(guard, before + (uint64_t)(s * (double)NS_PER_S)), 0);
        return (double)(now_ns() - before) / (double)NS_PER_S;
}

/*
 * A user who wakes the session ends a wait at once and pauses the night for a minute; events caused by our own white
 * picture do not.
 */
static void pauses_the_night(void)
{
        char dir[] = "/tmp/joulecast-sessions-XXXXXX";
        struct guard *guard = NULL;
        int root_fd;

        check(mkdtemp(dir) != NULL);
        check(tree_write(dir, "sys/class/power_supply/BAT0/type", "Battery\n", 8));
        root_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        check_int(guard_open(root_fd, false, NULL, &guard), 0);
        guard_watch_sessions(guard);
        check_int(judge(guard, 0), 0); /* its IdleHint is false all the time */
        wait_s(guard, "i1", 1);
        check_int(judge(guard, 0), 0);
        check(wait_s(guard, "I1", 20) < 15);
        check_int(judge(guard, 0), -EAGAIN);
        check_int(judge(guard, 55), -EAGAIN);
        check_int(judge(guard, 65), 0);

        wait_s(guard, "i1", 1);
        guard_before_change(guard);
        say("I1"); /* the picture inhibits idling */
        guard_after_change(guard, true);
        check(wait_s(guard, "I1", 1) >= 1);
        check_int(judge(guard, 0), 0);
        check(wait_s(guard, "A1", 1) >= 1);
        check(wait_s(guard, "a1", 20) < 15); /* a picture never switches consoles */
        check_int(judge(guard, 0), -EAGAIN);
        guard_before_change(NULL);
        guard_after_change(NULL, true);
        guard_close(guard);
        close(root_fd);
        tree_remove(dir);
}

/* A bus that dies in the night. */
static void bus_dies(struct bus *bus)
{
        struct sessions *sessions = NULL;
        struct pollfd fd;

        check_int(sessions_open(NULL, &sessions), 0);
        end_process(bus->daemon);
        bus->daemon = 0;
        fd = (struct pollfd){ .fd = sessions_fd(sessions), .events = POLLIN };
        check_int(poll(&fd, 1, 15000), 1);
        check_int(sessions_hear(sessions), 0);
        check_int(sessions_fd(sessions), -1);
        check_int(sessions_hear(sessions), 0);
        sessions_close(sessions);
}

int main(void)
{
        struct sessions *sessions = NULL;
        struct bus bus;
        int pipe_fds[2];
        pid_t service;

        signal(SIGPIPE, SIG_IGN);
        if (!bus_make(&bus) || pipe(pipe_fds) < 0)
                return 1;
        check_int(sessions_open(NULL, &sessions), -ENODATA); /* no bus at all */
        sessions_close(NULL);
        if (!bus_start(&bus)) {
                printf("no dbus-daemon could be started here\n");
                bus_remove(&bus);
                return 77;
        }
        check_int(sessions_open(NULL, &sessions), -ENODATA); /* a bus without a session manager */
        service = start_child();
        if (service == 0) {
                close(pipe_fds[1]);
                serve(pipe_fds[0]);
        }
        to_fd = pipe_fds[1];
        check(wait_until(manager_answers));
        tells_users();
        pauses_the_night();
        bus_dies(&bus);
        end_process(service);
        bus_remove(&bus);
        return check_result();
}
