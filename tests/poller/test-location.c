/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Users of the GPS, and the modem's signal strength: a child on a bus of our own plays ModemManager and GeoClue, as far
 * as other programs can see them.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>

#include "bus.h"
#include "check.h"
#include "child.h"
#include "held/held.h"
#include "location.h"
#include "util/units.h"
#include "util/util.h"

#define GEOCLUE "org.freedesktop.GeoClue2"
#define CLIENT_PATH "/org/freedesktop/GeoClue2/Client/1"
#define MODEMS "org.freedesktop.ModemManager1"
#define MODEMS_PATH "/org/freedesktop/ModemManager1"
#define PROPERTIES "org.freedesktop.DBus.Properties"
#define GPS_NMEA 4u
#define TEST_S 90

static uint32_t enabled = 1, capabilities = 1 | GPS_NMEA; /* the child's modem */

static int refuse(sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                  void *data, sd_bus_error *error)
{
        return sd_bus_error_set(error, SD_BUS_ERROR_ACCESS_DENIED, "Access denied");
}

static const sd_bus_vtable client_table[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_PROPERTY("Active", "b", refuse, 0, 0),
        SD_BUS_VTABLE_END,
};
static unsigned signal_percent = 73, signal_recent = 1;

static int tell_signal(sd_bus *bus, const char *path, const char *interface, const char *property,
                       sd_bus_message *reply, void *data, sd_bus_error *error)
{
        return sd_bus_message_append(reply, "(ub)", signal_percent, signal_recent);
}

static const sd_bus_vtable signal_table[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_PROPERTY("SignalQuality", "(ub)", tell_signal, 0, 0),
        SD_BUS_VTABLE_END,
};
static const sd_bus_vtable modem_table[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_PROPERTY("Capabilities", "u", NULL, sizeof(uint32_t), 0),
        SD_BUS_PROPERTY("Enabled", "u", NULL, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_VTABLE_END,
};
static uint32_t modem_values[2];

static void tell_client(sd_bus *bus, bool active)
{
        if (active)
                sd_bus_emit_signal(bus, CLIENT_PATH, PROPERTIES, "PropertiesChanged", "sa{sv}as", GEOCLUE ".Client", 1,
                                   "DesktopId", "s", "org.example.map", 0);
        sd_bus_emit_signal(bus, CLIENT_PATH, PROPERTIES, "PropertiesChanged", "sa{sv}as", GEOCLUE ".Client", 1,
                           "Active", "b", (int)active, 0);
}

/*
 * Carries out a command byte. + and -: the GPS goes on and off; a, i: the client becomes active or inactive;
 * v: its program ends; s: the signal becomes weaker; o: as s, and is out of date.
 */
static void act(sd_bus *bus, sd_bus_slot **client, char word)
{
        if (word == '+' || word == '-') {
                modem_values[0] = word == '+' ? enabled | GPS_NMEA : enabled;
                sd_bus_emit_properties_changed(bus, MODEMS_PATH "/Modem/0", MODEMS ".Modem.Location", "Enabled", NULL);
        } else if (word == 's' || word == 'o') {
                signal_percent = 12;
                signal_recent = word == 's';
        } else if (word == 'v') {
                *client = sd_bus_slot_unref(*client);
        } else {
                if (!*client)
                        sd_bus_add_object_vtable(bus, client, CLIENT_PATH, GEOCLUE ".Client", client_table, NULL);
                tell_client(bus, word == 'a');
        }
}

static void serve(int from_fd)
{
        sd_bus *bus = NULL;
        sd_bus_slot *client = NULL;

        modem_values[0] = enabled;
        modem_values[1] = capabilities;
        if (sd_bus_open_system(&bus) < 0 || sd_bus_add_object_manager(bus, NULL, MODEMS_PATH) < 0 ||
            sd_bus_add_object_vtable(bus, NULL, MODEMS_PATH "/Modem/0", MODEMS ".Modem.Location", modem_table,
                                     modem_values) < 0 ||
            sd_bus_add_object_vtable(bus, NULL, MODEMS_PATH "/Modem/0", MODEMS ".Modem", signal_table, NULL) < 0 ||
            sd_bus_request_name(bus, GEOCLUE, 0) < 0 || sd_bus_request_name(bus, MODEMS, 0) < 0)
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
                        act(bus, &client, word);
        }
}

static bool modems_answer(void)
{
        sd_bus *bus = NULL;
        sd_bus_message *reply = NULL;
        bool there = sd_bus_open_system(&bus) >= 0 &&
                     sd_bus_call_method(bus, MODEMS, MODEMS_PATH, "org.freedesktop.DBus.ObjectManager",
                                        "GetManagedObjects", NULL, &reply, "") >= 0;

        sd_bus_message_unref(reply);
        sd_bus_flush_close_unref(bus);
        return there;
}

struct desk {
        struct source *held, *location;
        struct sample sample;
        struct signal signal;
        uint64_t machine_ns, map_ns; /* at the look before */
};

/* One poll. */
static void look(struct desk *desk)
{
        struct timespec now;
        struct process *process;

        desk->machine_ns = desk->sample.gps_on_ns;
        desk->map_ns = desk->sample.n_processes > 0 ? desk->sample.processes[0].gps_on_ns : 0;
        desk->sample.signal.have = 0;
        check_int(desk->location->ops->read(desk->location, &desk->sample), 0);
        desk->signal = desk->sample.signal;
        sample_reset(&desk->sample);
        clock_gettime(CLOCK_MONOTONIC, &now);
        desk->sample.monotonic_ns = (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
        desk->sample.have = SAMPLE_PROCESSES;
        process = sample_add_process(&desk->sample, false);
        process->pid = 10;
        process->start_time = 1;
        snprintf(process->app, sizeof(process->app), "org.example.map");
        check_int(desk->held->ops->read(desk->held, &desk->sample), 0);
}

/*
 * Sends the child a command, and looks until two looks in a row agree on the GPS: held by no app (@on), by map (@map),
 * or off.
 */
static void expect(struct desk *desk, int to_fd, const char *word, bool on, bool map)
{
        struct pollfd fd = { .fd = desk->location->ops->fd(desk->location), .events = POLLIN };
        bool held = false;

        if (*word)
                check_int(write(to_fd, word, 1), 1);
        for (unsigned i = 0; i < 300 && !held; i++) {
                if (poll(&fd, 1, 20) > 0)
                        desk->location->ops->hear(desk->location, util_boottime_ns());
                look(desk);
                held = (desk->sample.have & USAGE_GPS) && (desk->sample.gps_on_ns > desk->machine_ns) == on &&
                       (desk->sample.processes[0].gps_on_ns > desk->map_ns) == map && i > 1;
        }
        if (!held)
                fprintf(stderr, "after \"%s\":\n", word);
        check(held);
        check(desk->sample.processes[0].gps_on_ns <= desk->sample.gps_on_ns);
}

/* -1: unknown. */
static void expect_signal(struct desk *desk, int to_fd, const char *word, int percent)
{
        int got = -2;

        if (*word)
                check_int(write(to_fd, word, 1), 1);
        for (unsigned i = 0; i < 300 && got != percent; i++) {
                look(desk);
                got = desk->signal.have & SIGNAL_CELLULAR ? (int)desk->signal.cellular_signal_percent : -1;
                usleep(20000);
        }
        check_int(got, percent);
}

static void tells_who(int to_fd)
{
        struct desk desk = { 0 };
        struct apps *apps = NULL;
        char dir[] = "/tmp/joulecast-location-XXXXXX";
        int root_fd;

        check(mkdtemp(dir) != NULL);
        root_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        check_int(apps_new(root_fd, NULL, &apps), 0);
        check_int(held_open(root_fd, apps, false, &desk.held), 0);
        check_int(location_open(desk.held, &desk.location), 0);
        look(&desk);
        expect(&desk, to_fd, "", false, false);
        expect_signal(&desk, to_fd, "", 73);
        expect_signal(&desk, to_fd, "s", 12);
        expect_signal(&desk, to_fd, "o", -1); /* not measured lately */
        expect(&desk, to_fd, "+", true, false); /* somebody's */
        expect(&desk, to_fd, "a", true, true);
        expect(&desk, to_fd, "i", true, false);
        expect(&desk, to_fd, "a", true, true);
        expect(&desk, to_fd, "v", true, false);
        expect(&desk, to_fd, "a", true, true);
        expect(&desk, to_fd, "-", false, false); /* a client alone may ask for a position by WiFi */
        desk.location->ops->close(desk.location);
        desk.held->ops->close(desk.held);
        apps_free(apps);
        sample_clear(&desk.sample);
        close(root_fd);
        rmdir(dir);
}

/* Without a service on the bus that knows the GPS, its state is unknown, and not off. */
static void without_modems(void)
{
        struct desk desk = { 0 };
        int root_fd = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        check_int(held_open(root_fd, NULL, false, &desk.held), 0);
        check_int(location_open(desk.held, &desk.location), 0);
        for (unsigned i = 0; i < 3; i++)
                look(&desk);
        check_int(desk.sample.have & USAGE_GPS, 0);
        check_int(desk.signal.have, 0);
        desk.location->ops->close(desk.location);
        desk.held->ops->close(desk.held);
        sample_clear(&desk.sample);
        close(root_fd);
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
        alarm(TEST_S);
        without_modems();
        manager = start_child();
        if (manager == 0) {
                close(pipe_fds[1]);
                serve(pipe_fds[0]);
        }
        check(wait_until(modems_answer));
        tells_who(pipe_fds[1]);
        end_process(manager);
        bus_remove(&bus);
        return check_result();
}
