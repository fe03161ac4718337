/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * WiFi as a part: its radio on and off, and traffic by joulecast-traffic. After the radio is switched on this
 * waits for the connection manager (wpa_supplicant, iwd, NetworkManager) to reconnect.
 */

#include "wifi.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "desktop/metered.h"
#include "hold/interface.h"
#include "hold/nl80211.h"
#include "hold/power-save.h"
#include "hold/remote-login.h"
#include "hold/rfkill.h"
#include "link.h"
#include "source/net.h"
#include "util/util.h"

#define CONNECT_S 40.0      /* a scan, WPA and DHCP */
#define BRING_UP_AFTER_S 5.0
#define LOOK_MS 100

/* Below this the radio sends slowly and repeats: its energy is not typical. */
#define WEAK_DBM (-75)

struct part_wifi {
        struct part part; /* first */
        const struct log *log;
        int root_fd;
        char interface[32];
        struct nl80211 *nl;
        char radio[96];            /* its rfkill setting; "": it has none, or must stay on */
        char power_save[64];       /* the setting; "" it has none */
        struct settings *settings;
        struct link link;          /* its traffic */
        bool allow_disconnect, has_url, has_peer, perhaps_metered;
        bool was_up;               /* the interface was up; one that was down is not brought up */
        bool radio_on;             /* as the mode asks */
        bool said_lost, said_away, said_login;
};

/* Finds the WiFi interface to measure, and what calibration may do with it. */

/* An interface that is a client; a connected one is preferred. */
static int find_interface(struct part_wifi *wifi)
{
        _cleanup_closedir_ DIR *dir = util_opendir_at(wifi->root_fd, "sys/class/net");
        int found = -ENODEV;
        struct dirent *entry;

        if (!dir)
                return -ENODEV;
        while ((entry = readdir(dir))) {
                if (entry->d_name[0] == '.' || strlen(entry->d_name) >= sizeof(wifi->interface) ||
                    net_kind_of(wifi->root_fd, entry->d_name) != NET_WIFI ||
                    nl80211_is_client(wifi->nl, entry->d_name) < 0)
                        continue;
                if (!found && !net_is_up(wifi->root_fd, entry->d_name))
                        continue;
                strcpy(wifi->interface, entry->d_name);
                found = 0;
        }
        return found;
}

static int find_radio(struct part_wifi *wifi)
{
        if (rfkill_find(wifi->root_fd, wifi->interface, wifi->radio, sizeof(wifi->radio)) < 0) {
                wifi->radio[0] = '\0';
                log_warning(wifi->log,
                            "%s: its radio cannot be switched off, so its power stays in the base",
                            wifi->interface);
                return 0;
        }
        if (rfkill_hard_blocked(wifi->root_fd, wifi->radio)) {
                log_warning(wifi->log, "%s: not measured: it is switched off by a hardware switch",
                            wifi->interface);
                return -ENODEV;
        }
        if (!wifi->allow_disconnect && remote_login_over(wifi->root_fd, wifi->interface)) {
                wifi->radio[0] = '\0';
                log_warning(wifi->log,
                            "%s carries a remote login, or may do so, so its radio stays on and its power "
                            "stays in the base; --allow-disconnect permits switching it off",
                            wifi->interface);
        }
        return 0;
}

/* Traffic needs a source or peer, and a network that is not metered. */
static int find_traffic(struct part_wifi *wifi, const struct machine_hardware *machine)
{
        struct traffic_where where = { .interface = wifi->interface, .url = machine->wifi_url,
                                       .peer = machine->wifi_peer };
        bool asked = where.url || where.peer;
        int costs = asked ? metered(wifi->interface) : 0, err;

        wifi->link = (struct link){ .log = wifi->log, .root_fd = wifi->root_fd, .air = AIR_WIFI,
                                    .limit_option = "wifi-limit",
                                    .not_measured = "wifi.rx_mj_per_mb and wifi.tx_mj_per_mb" };
        strcpy(wifi->link.interface, wifi->interface);
        if (!asked)
                log_info(wifi->log, "%s: traffic is not measured without --wifi-url or --wifi-peer",
                         wifi->interface);
        if (costs > 0) {
                log_warning(wifi->log, "%s is on a metered network: traffic is not measured",
                            wifi->interface);
                where.url = where.peer = NULL;
        }
        wifi->perhaps_metered = costs < 0;
        err = link_open(&wifi->link, &where);
        if (err == -EINVAL)
                log_error(wifi->log, "--wifi-peer: \"%s\" is not HOST or HOST:PORT", machine->wifi_peer);
        wifi->has_url = machine->wifi_url;
        wifi->has_peer = machine->wifi_peer;
        return err;
}

/*
 * Finds the interface and its radio, and opens the load if there is a source or peer. -ENODEV: no interface.
 */
static int wifi_find(struct part_wifi *wifi, const struct machine_hardware *machine)
{
        int err = find_interface(wifi);

        if (!err)
                err = find_radio(wifi);
        return err ? err : find_traffic(wifi, machine);
}

static struct part_wifi *wifi_of(struct part *part)
{
        return (struct part_wifi *)part;
}

static int describe(struct part *part, struct hardware_description *description)
{
        struct part_wifi *wifi = wifi_of(part);

        description->wifi = true;
        description->wifi_rx = wifi->link.load && (wifi->has_url || wifi->has_peer);
        description->wifi_tx = wifi->link.load && wifi->has_peer;
        return 0;
}

static void limit(struct part *part, enum air air, double bytes)
{
        struct part_wifi *wifi = wifi_of(part);

        if (air != AIR_WIFI)
                return;
        wifi->link.limit_bytes = bytes;
        if (wifi->link.load && wifi->perhaps_metered)
                log_info(wifi->log,
                         "%s: it is unknown whether this network is metered; at most %.1f GB are transferred",
                         wifi->interface, bytes / 1e9);
}

static int prepare(struct part *part, struct settings *settings)
{
        struct part_wifi *wifi = wifi_of(part);
        int err = wifi->radio[0] ? settings_add(settings, wifi->radio) : 0;

        wifi->settings = settings;
        if (err)
                return err;
        if (power_save_name(wifi->interface, wifi->power_save, sizeof(wifi->power_save)) < 0 ||
            settings_add(settings, wifi->power_save) < 0)
                wifi->power_save[0] = '\0'; /* not every driver has it */
        return 0;
}

/* ---- the radio ---- */

static bool is_connected(const struct part_wifi *wifi)
{
        struct nl80211_station station;

        return net_is_up(wifi->root_fd, wifi->interface) &&
               nl80211_station(wifi->nl, wifi->interface, &station) == 0 && station.associated;
}

/* -EINTR: a signal; the caller checks whether to stop. */
static int pause_ms(long ms)
{
        const struct timespec pause = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

        return nanosleep(&pause, NULL) < 0 && errno == EINTR ? -EINTR : 0;
}

/*
 * After unblocking, an interface stays down until it is brought up; if no manager does, we do, if it was up
 * before.
 */
static int wait_connected(struct part_wifi *wifi)
{
        bool brought_up = false;

        for (double seconds = 0; seconds < CONNECT_S; seconds += LOOK_MS / 1e3) {
                int err;

                if (is_connected(wifi) && (!wifi->link.loads || interface_has_address(wifi->interface))) {
                        wifi->said_away = false;
                        return 0;
                }
                if (wifi->was_up && seconds >= BRING_UP_AFTER_S && !brought_up) {
                        brought_up = true;
                        interface_bring_up(wifi->interface);
                }
                err = pause_ms(LOOK_MS);
                if (err)
                        return err;
        }
        if (!wifi->said_away)
                log_warning(wifi->log,
                            "%s: no connection within %.0f s of switching it on; states with WiFi are "
                            "postponed",
                            wifi->interface, CONNECT_S);
        wifi->said_away = true;
        return -ENOTCONN;
}

/* Drivers and managers may reset it with the connection. */
static void keep_power_save(struct part_wifi *wifi)
{
        const char *original =
                wifi->power_save[0] ? settings_original(wifi->settings, wifi->power_save) : NULL;
        bool on;

        if (!original || nl80211_power_save(wifi->nl, wifi->interface, &on) < 0 || on == (original[0] == '1'))
                return;
        if (settings_write(wifi->settings, wifi->power_save, original) < 0)
                log_warning(wifi->log, "%s: its power save changed to %s and cannot be set back",
                            wifi->interface, on ? "on" : "off");
}

static void look_at_signal(const struct part_wifi *wifi)
{
        struct nl80211_station station;

        if (nl80211_station(wifi->nl, wifi->interface, &station) == 0 && station.signal_dbm < WEAK_DBM)
                log_warning(wifi->log,
                            "%s: the signal is weak (%d dBm): WiFi takes more energy here than elsewhere",
                            wifi->interface, station.signal_dbm);
}

/* Also logins since the run began. */
static bool carries_login(struct part_wifi *wifi)
{
        bool carries = !wifi->allow_disconnect && remote_login_over(wifi->root_fd, wifi->interface);

        if (carries && !wifi->said_login)
                log_warning(wifi->log,
                            "%s now carries a remote login, or may do so: its radio stays on",
                            wifi->interface);
        wifi->said_login = wifi->said_login || carries;
        return carries;
}

static int switch_radio(struct part_wifi *wifi, bool on)
{
        bool was_on = wifi->radio_on && !wifi->said_away;
        bool may_switch = wifi->radio[0] && (on || !carries_login(wifi));
        int err = may_switch ? settings_write(wifi->settings, wifi->radio, on ? "0" : "1") : 0;

        wifi->radio_on = on || !may_switch;
        if (err) {
                log_warning(wifi->log, "%s: its radio cannot be switched %s: %s", wifi->interface,
                            on ? "on" : "off", strerror(-err));
                return err;
        }
        if (!on)
                return 0;
        err = wait_connected(wifi);
        if (!err && !was_on) {
                keep_power_save(wifi);
                look_at_signal(wifi);
        }
        return err;
}

static int apply(struct part *part, const struct mode *mode)
{
        struct part_wifi *wifi = wifi_of(part);
        int err = link_set(&wifi->link, NULL);

        wifi->said_lost = false;
        wifi->link.loads = link_has_load(&wifi->link, mode);
        if (!err)
                err = switch_radio(wifi, mode->wifi_on);
        return err || !wifi->link.loads ? err : link_begin(&wifi->link, mode);
}

static int check(struct part *part)
{
        struct part_wifi *wifi = wifi_of(part);

        link_check(&wifi->link);
        if (wifi->radio_on && wifi->settings && !wifi->said_lost &&
            !net_is_up(wifi->root_fd, wifi->interface)) {
                wifi->said_lost = true;
                log_warning(wifi->log, "%s: the connection was lost", wifi->interface);
        }
        return 0;
}

static void stop(struct part *part)
{
        struct part_wifi *wifi = wifi_of(part);

        if (wifi->link.load)
                link_set(&wifi->link, NULL);
        wifi->settings = NULL;
        wifi->radio_on = false;
}

static void close_wifi(struct part *part)
{
        struct part_wifi *wifi = wifi_of(part);

        link_close(&wifi->link);
        nl80211_close(wifi->nl);
        closep(&wifi->root_fd);
        free(wifi);
}

static const struct part_ops wifi_ops = {
        .name = "wifi",
        .describe = describe,
        .limit_air = limit,
        .prepare = prepare,
        .apply = apply,
        .check = check,
        .stop = stop,
        .close = close_wifi,
};

int wifi_open(int root_fd, const struct machine_hardware *machine, struct part **ret)
{
        struct part_wifi *wifi = calloc(1, sizeof(*wifi));
        int err;

        if (!wifi)
                return -ENOMEM;
        wifi->part.ops = &wifi_ops;
        wifi->log = machine->log;
        wifi->allow_disconnect = machine->allow_disconnect;
        wifi->root_fd = fcntl(root_fd, F_DUPFD_CLOEXEC, 3);
        err = wifi->root_fd < 0 ? -errno : nl80211_open(&wifi->nl);
        if (!err)
                err = wifi_find(wifi, machine);
        if (err) {
                close_wifi(&wifi->part);
                return err == -ENOSYS ? -ENODEV : err;
        }
        wifi->was_up = interface_is_set_up(wifi->interface);
        *ret = &wifi->part;
        return 0;
}

int hardware_wifi_open(const struct machine_hardware *machine, struct part **ret)
{
        _cleanup_close_ int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        return root_fd < 0 ? -errno : wifi_open(root_fd, machine, ret);
}
