/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * WiFi as a part of calibration (calibrate/hardware/wifi.c) on a tree: what it does not touch, and whose data
 * volume it uses. The linker's --wrap replaces calls to the kernel and NetworkManager by functions of this file.
 */

#include <errno.h>
#include <fcntl.h>
#include <time.h>

#include "check.h"
#include "desktop/metered.h"
#include "hold/nl80211.h"
#include "hold/remote-login.h"
#include "hardware/traffic-load.h"
#include "tree.h"
#include "hardware/cellular.h"
#include "hardware/wifi.h"

#define SOFT "sys/class/rfkill/rfkill0/soft"

int __wrap_nl80211_open(struct nl80211 **ret);
void __wrap_nl80211_close(struct nl80211 *nl);
int __wrap_nl80211_is_client(struct nl80211 *nl, const char *interface);
int __wrap_nl80211_station(struct nl80211 *nl, const char *interface, struct nl80211_station *ret);
bool __wrap_remote_login_over(int root_fd, const char *interface);

int __wrap_metered(const char *interface);
bool __wrap_interface_has_address(const char *interface);
int __wrap_traffic_load_open(const struct traffic_where *where, const struct log *log,
                             struct traffic_load **ret);
int __wrap_traffic_load_set(struct traffic_load *load, const struct traffic_job *job, double most_bytes);
int __wrap_traffic_load_tend(struct traffic_load *load);
void __wrap_traffic_load_close(struct traffic_load *load);

int __wrap_nanosleep(const struct timespec *pause, struct timespec *left);

static bool logged_in;
static double slept_s;
static int costs;      /* return value of metered() */
static unsigned asked; /* number of calls of metered() */
static double rate;    /* bytes per s of the load; 0: none runs */
static double most;    /* bytes that the load may move */
static unsigned said_login, said_metered, said_away;

int __wrap_nl80211_open(struct nl80211 **ret)
{
        *ret = NULL;
        return 0;
}

void __wrap_nl80211_close(struct nl80211 *nl)
{
}

int __wrap_nl80211_is_client(struct nl80211 *nl, const char *interface)
{
        return 0;
}

int __wrap_nl80211_station(struct nl80211 *nl, const char *interface, struct nl80211_station *ret)
{
        *ret = (struct nl80211_station){ .associated = true, .signal_dbm = -50 };
        return 0;
}

bool __wrap_remote_login_over(int root_fd, const char *interface)
{
        return logged_in;
}

int __wrap_metered(const char *interface)
{
        asked++;
        return costs;
}

bool __wrap_interface_has_address(const char *interface)
{
        return true;
}

int __wrap_traffic_load_open(const struct traffic_where *where, const struct log *log,
                             struct traffic_load **ret)
{
        static char load;

        *ret = (struct traffic_load *)&load;
        return 0;
}

int __wrap_traffic_load_set(struct traffic_load *load, const struct traffic_job *job, double most_bytes)
{
        rate = job->rx_bytes_per_s + job->tx_bytes_per_s;
        most = job->rx_bytes_per_s > 0 ? most_bytes : most;
        return 0;
}

int __wrap_traffic_load_tend(struct traffic_load *load)
{
        return 0;
}

void __wrap_traffic_load_close(struct traffic_load *load)
{
}

int __wrap_nanosleep(const struct timespec *pause, struct timespec *left)
{
        slept_s += (double)pause->tv_sec + (double)pause->tv_nsec * 1e-9;
        return 0;
}

static void listen(void *data, enum log_level level, const char *sentence)
{
        said_login += strstr(sentence, "remote login") != NULL;
        said_metered += strstr(sentence, "metered network now") != NULL;
        said_away += strstr(sentence, "no connection within") != NULL;
}

struct machine {
        char dir[64], journal[96];
        int root_fd;
        struct settings *settings;
        struct part *part;
};

static void put(const struct machine *machine, const char *path, const char *text)
{
        check(tree_write(machine->dir, path, text, strlen(text)));
}

static void put_link(const struct machine *machine, const char *path, const char *target)
{
        char name[256];

        snprintf(name, sizeof(name), "%s/%s", machine->dir, path);
        check_int(util_make_parent(name, 0755), 0);
        check_int(symlink(target, name), 0);
}

static void put_connections(const struct machine *machine, unsigned n)
{
        char text[16];

        snprintf(text, sizeof(text), "%u\n", n);
        put(machine, "sys/class/net/wlan0/carrier_changes", text);
}

static void put_bytes(const struct machine *machine, const char *bytes)
{
        put(machine, "sys/class/net/wlan0/statistics/rx_bytes", bytes);
        put(machine, "sys/class/net/wlan0/statistics/tx_bytes", "0\n");
}

static void begin(struct machine *machine, bool allow_disconnect)
{
        static const struct log log = { .handler = listen };
        const struct machine_hardware options = { .allow_disconnect = allow_disconnect, .log = &log,
                                                  .wifi_url = "http://192.0.2.1/" };

        *machine = (struct machine){ .dir = "/tmp/joulecast-wifi-part-XXXXXX" };
        check(mkdtemp(machine->dir) != NULL);
        put(machine, "sys/class/net/wlan0/operstate", "up\n");
        put_link(machine, "sys/class/net/wlan0/phy80211", "../../ieee80211/phy0");
        put_link(machine, "sys/class/rfkill/rfkill0/device", "../../phy0");
        put(machine, "sys/class/rfkill/rfkill0/hard", "0\n");
        put(machine, SOFT, "0\n");
        put_bytes(machine, "5000\n");
        put_connections(machine, 7);
        machine->root_fd = open(machine->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        snprintf(machine->journal, sizeof(machine->journal), "%s/state/restore.ini", machine->dir);
        said_login = said_metered = said_away = 0;
        check_int(wifi_open(machine->root_fd, &options, &machine->part), 0);
        check_int(settings_open(machine->root_fd, machine->journal, NULL, &machine->settings), 0);
        check_int(machine->part->ops->prepare(machine->part, machine->settings), 0);
        check_int(settings_commit(machine->settings), 0);
}

static void end(struct machine *machine)
{
        machine->part->ops->stop(machine->part);
        machine->part->ops->close(machine->part);
        settings_close(machine->settings);
        close(machine->root_fd);
        tree_remove(machine->dir);
}

/* The radio's switch after a mode with WiFi, or one without. */
static char blocked_in(struct machine *machine, bool on)
{
        const struct mode mode = { .wifi_on = on };
        char text[8] = "";

        check_int(machine->part->ops->apply(machine->part, &mode), 0);
        check(util_read_at(machine->root_fd, SOFT, text, sizeof(text)) > 0);
        return text[0];
}

/*
 * A user who logs in during the night is not cut off, which is reported once; after they have left, all is as before.
 */
static void login_in_the_night(void)
{
        struct machine machine;

        logged_in = false;
        begin(&machine, false);
        check_int(blocked_in(&machine, false), '1');
        check_int(blocked_in(&machine, true), '0');
        logged_in = true;
        check_int(blocked_in(&machine, false), '0');
        check_int(blocked_in(&machine, true), '0');
        check_int(blocked_in(&machine, false), '0');
        check_int(said_login, 1);
        logged_in = false;
        check_int(blocked_in(&machine, false), '1');
        end(&machine);
}

static void login_at_the_start(void)
{
        struct machine machine;

        logged_in = true;
        begin(&machine, false);
        check_int(blocked_in(&machine, false), '0');
        check_int(said_login, 1);
        end(&machine);
        begin(&machine, true); /* --allow-disconnect */
        check_int(blocked_in(&machine, false), '1');
        check_int(said_login, 0);
        end(&machine);
}

static double may_receive(struct machine *machine)
{
        const struct mode mode = { .wifi_on = true, .rx_mb_per_s = 1 };

        most = NAN;
        check_int(machine->part->ops->apply(machine->part, &mode), 0);
        return most;
}

/* A night's limit of bytes holds for the whole night, also if the driver's counter restarts. */
static void moves_no_more(void)
{
        struct machine machine;

        logged_in = false;
        begin(&machine, false);
        check_near(may_receive(&machine), 0, 0); /* no limit was set yet */
        machine.part->ops->limit_air(machine.part, AIR_WIFI, 1e6);
        check_near(may_receive(&machine), 1e6, 0);
        put_bytes(&machine, "305000\n");
        check_near(may_receive(&machine), 700e3, 0);
        put_bytes(&machine, "1000\n");
        check_near(may_receive(&machine), 699e3, 0);
        put_bytes(&machine, "701000\n");
        check_near(may_receive(&machine), -1e3, 0);
        end(&machine);
}

static const struct mode receiving = { .wifi_on = true, .rx_mb_per_s = 0.5 };

static int apply(struct machine *machine, const struct mode *mode)
{
        return machine->part->ops->apply(machine->part, mode);
}

/* There is no traffic on metered networks, also if the network changes during a night. */
static void asks_at_the_start(void)
{
        for (costs = -ENODATA; costs <= 1; costs++) {
                struct hardware_description description = { 0 };
                struct machine machine;

                begin(&machine, true);
                check_int(machine.part->ops->describe(machine.part, &description), 0);
                check_int(description.wifi_rx, costs <= 0);
                end(&machine);
        }
}

static void asks_before_each_load(void)
{
        const struct mode on = { .wifi_on = true };
        struct machine machine;

        costs = 0;
        begin(&machine, true);
        check_int(apply(&machine, &receiving), 0);
        check(rate > 0);
        costs = 1; /* the network becomes metered during a pause: the owner's phone */
        check_int(apply(&machine, &receiving), -ENOTCONN);
        check_int(apply(&machine, &receiving), -ENOTCONN);
        check(rate == 0 && said_metered == 1);
        check_int(apply(&machine, &on), 0);
        costs = 0;
        check_int(apply(&machine, &receiving), 0);
        check(rate > 0);
        end(&machine);
}

/* Without an access point, modes that need it wait and are tried again; others go on. */
static void waits_for_the_access_point(void)
{
        const struct mode off = { 0 };
        struct machine machine;

        costs = 0;
        begin(&machine, true);
        put(&machine, "sys/class/net/wlan0/operstate", "down\n");
        for (int again = 0; again < 2; again++) {
                slept_s = 0;
                check_int(apply(&machine, &receiving), -ENOTCONN);
                check(slept_s > 39 && slept_s < 41 && rate == 0 && said_away == 1);
                check_int(apply(&machine, &off), 0);
        }
        put(&machine, "sys/class/net/wlan0/operstate", "up\n");
        check_int(apply(&machine, &receiving), 0);
        check(rate > 0);
        end(&machine);
}

static void look(struct machine *machine, unsigned times)
{
        for (unsigned i = 0; i < times; i++)
                check_int((machine->part->ops->check)(machine->part), 0); /* not the macro */
}

static void asks_after_each_connection(void)
{
        struct machine machine;

        costs = 0;
        begin(&machine, true);
        check_int(apply(&machine, &receiving), 0);
        look(&machine, 100);
        asked = 0;
        look(&machine, 1000);
        check_int(asked, 0); /* it is the same one */
        put_connections(&machine, 9);
        look(&machine, 100);
        check(asked > 0 && asked < 10 && rate > 0);
        put_connections(&machine, 11);
        look(&machine, 5);
        costs = 1; /* DHCP announces it late */
        look(&machine, 30);
        check(rate == 0);
        asked = 0;
        look(&machine, 100);
        check_int(asked, 0);
        end(&machine);
}

/*
 * A modem: only when asked for, never beyond the limit, and without asking what its network costs, as the
 * user knows.
 */
static void modem_as_asked(void)
{
        static const struct log log = { .handler = listen };
        static const struct mode sending = { .air = AIR_CELLULAR, .tx_mb_per_s = 0.1 },
                                 fetching = { .air = AIR_CELLULAR, .rx_mb_per_s = 0.1 };
        struct machine_hardware options = { .log = &log };
        struct machine machine;
        struct part *part = NULL;

        costs = 1;
        asked = 0;
        begin(&machine, true);
        check_int(cellular_open(machine.root_fd, &options, &part), -ENODEV);
        options.cellular_peer = "192.0.2.1";
        asked = 0;
        check_int(cellular_open(machine.root_fd, &options, &part), -ENXIO);
        put(&machine, "sys/class/net/wwan0/device/vendor", "");
        put(&machine, "sys/class/net/wwan0/uevent", "DEVTYPE=wwan\n");
        put(&machine, "sys/class/net/wwan0/statistics/rx_bytes", "1000\n");
        put(&machine, "sys/class/net/wwan0/statistics/tx_bytes", "0\n");
        check_int(cellular_open(machine.root_fd, &options, &part), 0);
        if (part) {
                check_int(part->ops->apply(part, &sending), -EOPNOTSUPP); /* no limit was set yet */
                part->ops->limit_air(part, AIR_WIFI, 5e6);
                check_int(part->ops->apply(part, &sending), -EOPNOTSUPP);
                part->ops->limit_air(part, AIR_CELLULAR, 1e6);
                check_int(part->ops->apply(part, &fetching), 0);
                check(rate == 0.1e6 && most == 1e6);
                check_int(part->ops->apply(part, &receiving), 0); /* over WiFi: not this part's */
                check_near(rate, 0, 0);
                check_int(part->ops->apply(part, &sending), 0);
                /* Less than two seconds are left. */
                put(&machine, "sys/class/net/wwan0/statistics/rx_bytes", "900000\n");
                check_int((part->ops->check)(part), 0);
                check_near(rate, 0, 0);
                check_int(part->ops->apply(part, &fetching), -EOPNOTSUPP);
                check_near(rate, 0, 0);
                part->ops->stop(part);
                part->ops->close(part);
        }
        check_int((int)asked, 0);
        end(&machine);
        costs = 0;
}

int main(void)
{
        modem_as_asked();
        login_in_the_night();
        login_at_the_start();
        moves_no_more();
        asks_at_the_start();
        asks_before_each_load();
        asks_after_each_connection();
        waits_for_the_access_point();
        return check_result();
}
