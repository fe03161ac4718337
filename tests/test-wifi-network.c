/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * WiFi as a part of calibration (calibrate/hardware/wifi.c) where the network becomes another one in the
 * middle of a night: nobody is made to pay for its traffic. The radio, the network and the load are this
 * file's, by the linker's --wrap; every machine's loopback stands for the interface.
 */

#include <errno.h>

#include "check.h"
#include "interface.h"
#include "metered.h"
#include "net.h"
#include "nl80211.h"
#include "part.h"
#include "traffic-load.h"
#include "util.h"

enum net_kind __wrap_net_kind_of(int root_fd, const char *name);
bool __wrap_net_is_up(int root_fd, const char *name);
int __wrap_nl80211_open(struct nl80211 **ret);
void __wrap_nl80211_close(struct nl80211 *nl);
int __wrap_nl80211_is_client(struct nl80211 *nl, const char *interface);
int __wrap_nl80211_station(struct nl80211 *nl, const char *interface, struct nl80211_station *ret);
bool __wrap_interface_has_address(const char *interface);
int __wrap_interface_carrier_changes(int root_fd, const char *interface, uint64_t *ret);
int __wrap_metered(const char *interface);
int __wrap_traffic_load_set(struct traffic_load *load, const struct traffic_job *job, double most_bytes);
int __wrap_traffic_load_tend(struct traffic_load *load);

static int costs;                /* what metered() answers */
static unsigned asked;           /* how often it did */
static uint64_t carrier_changes;
static double rate;              /* of the load that runs; 0: none does */
static unsigned warnings;

enum net_kind __wrap_net_kind_of(int root_fd, const char *name)
{
        return strcmp(name, "lo") ? NET_OTHER : NET_WIFI;
}

bool __wrap_net_is_up(int root_fd, const char *name)
{
        return true;
}

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

bool __wrap_interface_has_address(const char *interface)
{
        return true;
}

int __wrap_interface_carrier_changes(int root_fd, const char *interface, uint64_t *ret)
{
        *ret = carrier_changes;
        return 0;
}

int __wrap_metered(const char *interface)
{
        asked++;
        return costs;
}

int __wrap_traffic_load_set(struct traffic_load *load, const struct traffic_job *job, double most_bytes)
{
        rate = job->rx_bytes_per_s + job->tx_bytes_per_s;
        return 0;
}

int __wrap_traffic_load_tend(struct traffic_load *load)
{
        return 0;
}

static void count_warning(void *data, enum log_level level, const char *sentence)
{
        warnings += level <= LOG_LEVEL_WARNING;
}

static const struct mode on = { .wifi_on = true }, receiving = { .wifi_on = true, .rx_mb_per_s = 0.5 };

static struct part *open_part(void)
{
        static const struct log log = { .handler = count_warning };
        const struct machine_hardware machine = { .wifi_url = "http://192.0.2.1/file", .log = &log };
        struct part *part = NULL;

        check_int(part_wifi_open(&machine, &part), 0);
        part->ops->limit_wifi(part, 1e9);
        return part;
}

static bool offers_traffic(struct part *part)
{
        struct hardware_description description = { 0 };

        check_int(part->ops->describe(part, &description), 0);
        return description.wifi_rx;
}

static void look(struct part *part, unsigned times)
{
        for (unsigned i = 0; i < times; i++)
                check_int((part->ops->check)(part), 0); /* not the macro */
}

static void asks_at_the_start(void)
{
        struct part *part;

        for (costs = -ENODATA; costs <= 1; costs++) {
                part = open_part();
                check_int(offers_traffic(part), costs <= 0);
                part->ops->close(part);
        }
}

static void asks_before_each_load(void)
{
        struct part *part;

        costs = 0;
        part = open_part();
        check_int(part->ops->apply(part, &receiving), 0);
        check(rate > 0);
        costs = 1; /* a pause: now it is the owner's phone */
        warnings = 0;
        check_int(part->ops->apply(part, &receiving), -ENOTCONN);
        check_int(part->ops->apply(part, &receiving), -ENOTCONN);
        check(rate == 0 && warnings == 1);
        check_int(part->ops->apply(part, &on), 0);
        costs = 0;
        check_int(part->ops->apply(part, &receiving), 0);
        check(rate > 0);
        part->ops->close(part);
}

static void asks_after_each_connection(void)
{
        struct part *part;

        costs = 0;
        carrier_changes = 7;
        part = open_part();
        check_int(part->ops->apply(part, &receiving), 0);
        look(part, 100);
        asked = 0;
        look(part, 1000);
        check_int(asked, 0); /* it is the same one */
        carrier_changes += 2;
        look(part, 100);
        check(asked > 0 && asked < 10 && rate > 0);
        carrier_changes += 2;
        look(part, 5);
        costs = 1; /* as DHCP said late */
        look(part, 30);
        check(rate == 0);
        asked = 0;
        look(part, 100);
        check_int(asked, 0);
        part->ops->close(part);
}

int main(void)
{
        asks_at_the_start();
        asks_before_each_load();
        asks_after_each_connection();
        return check_result();
}
