/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opportunity.h"

#include <net/if.h>
#include <stdlib.h>

#include "desktop/metered.h"
#include "place.h"
#include "process/net-tunnel.h"
#include "source/battery.h"
#include "source/net.h"
#include "util/units.h"
#include "util/util.h"
#include "util/words.h"

#define DAY_NS (86400 * (int64_t)NS_PER_S)

static bool on_battery(int root_fd)
{
        _cleanup_free_ struct battery_unit *units = NULL;
        struct battery sum;
        size_t n = 0;

        if (battery_list(root_fd, &units, &n, NULL) || n == 0)
                return false;
        battery_sum(units, n, &sum);
        return sum.status == BATTERY_DISCHARGING || sum.status == BATTERY_UNKNOWN;
}

/* A network that is not marked as metered counts as free, unless it is a modem's. */
static unsigned look_at_network(int root_fd)
{
        uint32_t metric;
        int index = net_route_find(0, &metric);
        char name[IF_NAMESIZE];

        if (index <= 0 || !if_indextoname((unsigned)index, name))
                return NOT_NOW_NETWORK;
        if (root_fd >= 0 && net_kind_of_packets(root_fd, name) == NET_CELLULAR)
                return NOT_NOW_METERED;
        return metered(name) > 0 ? NOT_NOW_METERED : 0;
}

/* A time in the future comes from a wrong clock. */
static bool within_a_day(const struct member *member, int64_t now_ns)
{
        return member->sent_ns > 0 && member->sent_ns <= now_ns && now_ns - member->sent_ns < DAY_NS;
}

unsigned opportunity_look(const struct member *member, int root_fd, int64_t now_ns)
{
        unsigned reasons = within_a_day(member, now_ns) ? NOT_NOW_DAY : 0;

        if (root_fd >= 0 && on_battery(root_fd))
                reasons |= NOT_NOW_BATTERY;
        if (place_is_server(member->where))
                reasons |= look_at_network(root_fd);
        return reasons;
}

const char *opportunity_reason(unsigned *reasons)
{
        static const char *const texts[] = { N_("the device runs on its battery"), N_("the network is metered"),
                                             N_("there is no network"), N_("less than a day since the last time") };

        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                if (*reasons & 1u << i) {
                        *reasons &= ~(1u << i);
                        return texts[i];
                }
        return NULL;
}
