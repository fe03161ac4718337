/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "link.h"

#include <errno.h>

#include "hold/interface.h"
#include "desktop/metered.h"
#include "util/units.h"
#include "util/util.h"

#define WARY_LOOKS 30       /* DHCP takes some seconds, and may show that a network is metered */
#define ASK_LOOKS 10
#define LAST_S 2.0

int link_open(struct link *link, const struct traffic_where *where)
{
        if (interface_bytes(link->root_fd, link->interface, &link->counted_bytes) < 0)
                link->counted_bytes = 0;
        return where->url || where->peer ? traffic_load_open(where, link->log, &link->load) : 0;
}

void link_close(struct link *link)
{
        traffic_load_close(link->load);
        link->load = NULL;
}

/* The counters start again with the driver. */
static double left_bytes(struct link *link)
{
        uint64_t now;

        if (interface_bytes(link->root_fd, link->interface, &now) == 0) {
                link->moved_bytes += (double)(now < link->counted_bytes ? now : now - link->counted_bytes);
                link->counted_bytes = now;
        }
        return link->limit_bytes - link->moved_bytes;
}

static int said(struct link *link, int err)
{
        if (err == -EDQUOT && !link->said_limit)
                log_warning(link->log, "--%s is reached: no more traffic in this run, and no more measurements of %s",
                            link->limit_option, link->not_measured);
        link->said_limit = link->said_limit || err == -EDQUOT;
        return err == -EDQUOT || err == -EIO ? -EOPNOTSUPP : err;
}

static double bursts_per_s(const struct mode *mode)
{
        return mode->wakes_per_s + mode->packets_per_s / MAX(mode->burst_packets, 1u);
}

bool link_has_load(const struct link *link, const struct mode *mode)
{
        return mode->air == link->air && (mode->rx_mb_per_s > 0 || mode->tx_mb_per_s > 0 || bursts_per_s(mode) > 0);
}

/* If bytes may cost money, the load ends before the limit: bytes until the next look (1 s) and headers count, too. */
static bool is_used_up(const struct link *link, double left)
{
        return link->may_cost && left < LAST_S * link->bytes_per_s;
}

int link_set(struct link *link, const struct mode *mode)
{
        struct traffic_job job = { 0 };
        double left;
        int err;

        link->loads = mode && link_has_load(link, mode);
        if (link->loads)
                job = (struct traffic_job){
                        .rx_bytes_per_s = mode->rx_mb_per_s * BYTES_PER_MB,
                        .tx_bytes_per_s = mode->tx_mb_per_s * BYTES_PER_MB,
                        .wakes_per_s = bursts_per_s(mode),
                        .wake_packets = mode->packets_per_s > 0 ? MAX(mode->burst_packets, 1u) : 0,
                        .large_packets = mode->large_packets,
                };
        link->bytes_per_s = job.rx_bytes_per_s + job.tx_bytes_per_s + traffic_wake_bytes_per_s(&job);
        if (!link->load)
                return link->loads ? -EOPNOTSUPP : 0;
        left = left_bytes(link);
        if (link->loads && is_used_up(link, left)) {
                traffic_load_set(link->load, &(struct traffic_job){ 0 }, 0);
                return said(link, -EDQUOT);
        }
        err = traffic_load_set(link->load, &job, left);
        return link->loads ? said(link, err) : 0; /* the load before has ended in any case */
}

/* It may be another network than before: the radio was off, or the machine was moved during a pause. */
static bool is_metered_now(struct link *link)
{
        bool metered_now = !link->may_cost && metered(link->interface) > 0;

        if (metered_now && !link->said_metered)
                log_warning(link->log, "%s is on a metered network now: states with traffic are postponed",
                            link->interface);
        link->said_metered = metered_now;
        return metered_now;
}

/* Within a mode: only after the connection has changed. */
static void look_at_network(struct link *link)
{
        uint64_t changes;

        if (interface_carrier_changes(link->root_fd, link->interface, &changes) == 0 &&
            changes != link->carrier_changes) {
                link->carrier_changes = changes;
                link->wary = WARY_LOOKS;
        }
        if (link->wary > 0 && --link->wary % ASK_LOOKS == 0 && is_metered_now(link))
                link_set(link, NULL);
}

int link_begin(struct link *link, const struct mode *mode)
{
        return link->load && is_metered_now(link) ? -ENOTCONN : link_set(link, mode);
}

void link_check(struct link *link)
{
        if (!link->loads || !link->load)
                return;
        look_at_network(link);
        if (link->may_cost && is_used_up(link, left_bytes(link))) {
                link_set(link, NULL);
                said(link, -EDQUOT);
        }
        said(link, traffic_load_tend(link->load));
}
