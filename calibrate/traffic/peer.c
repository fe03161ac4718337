/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <linux/tcp.h> /* glibc's struct tcp_info ends before the byte counts */
#include <math.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>
#include <iperf_api.h>

#include "traffic.h"
#include "util/util.h"

/* Receives from or transmits to an `iperf3 -s` peer by libiperf; the only file that knows libiperf. */

#define CONNECT_TIMEOUT_MS 5000
#define STATS_INTERVAL_MAX_S 60 /* libiperf's own limit */
#define BYTES_MOST 1e15         /* 100 Gbit/s for a day */

static struct tally *tally_of_signal;

static int errno_from_iperf(int code)
{
        switch (code) {
        case IECONNECT:
                return -ECONNREFUSED;
        case IEACCESSDENIED:
                return -EBUSY;
        default:
                return -EIO;
        }
}

/*
 * When stopped, libiperf's counts are out of reach, but the kernel has the byte counts of each TCP socket.
 * getsockopt() is a plain system call, so a signal handler may use it. The few bytes of the control
 * connection are included.
 */
static void count_and_leave(int signal)
{
        for (int fd = 3; fd < 64; fd++) {
                struct tcp_info info = { 0 };
                socklen_t size = sizeof(info);

                if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) < 0)
                        continue;
                tally_of_signal->rx_bytes += info.tcpi_bytes_received;
                tally_of_signal->tx_bytes += info.tcpi_bytes_acked;
        }
        _exit(0);
}

/*
 * {"end": {"sum_sent": {"bytes": N}, "sum_received": {"bytes": N}}}. A number that no run can reach, which the peer may
 * have made up, counts as none.
 */
static uint64_t end_bytes(const cJSON *report, const char *sum)
{
        const cJSON *end = cJSON_GetObjectItemCaseSensitive(report, "end");
        const cJSON *total = cJSON_GetObjectItemCaseSensitive(end, sum);
        double bytes = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(total, "bytes"));

        return bytes >= 0 && bytes < BYTES_MOST ? (uint64_t)bytes : 0;
}

/* iperf_run_client() also returns 0 after an error if the report is JSON: the report has the error. */
static int read_report(struct iperf_test *test, const struct request *request, struct tally *tally)
{
        const char *text = iperf_get_test_json_output_string(test);
        cJSON *report = text ? cJSON_Parse(text) : NULL;
        const char *error = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(report, "error"));
        int err = 0;

        if (request->kind == REQUEST_RECEIVE)
                tally->rx_bytes += end_bytes(report, "sum_received");
        else
                tally->tx_bytes += end_bytes(report, "sum_sent");
        if (error || !report)
                err = traffic_fail(tally, errno_from_iperf(i_errno), "the peer %s, port %u: %s",
                                   request->peer, request->port, error ? error : iperf_strerror(i_errno));
        cJSON_Delete(report);
        return err;
}

/* libiperf has no setter for it: parse iperf3's option, before the others because it resets them. */
static int bind_to(struct iperf_test *test, const struct request *request)
{
        char *arguments[] = { (char *)"iperf3", (char *)"-c", (char *)request->peer, (char *)"--bind-dev",
                              (char *)request->interface, NULL };

        return request->interface[0] ? iperf_parse_arguments(test, 5, arguments) : 0;
}

static void configure(struct iperf_test *test, const struct request *request)
{
        int whole_s = (int)ceil(request->seconds);
        uint64_t block = MAX(MIN(request->bytes_per_s / 20, UINT64_C(131072)), UINT64_C(500));

        iperf_set_test_role(test, 'c');
        iperf_set_test_server_hostname(test, request->peer);
        iperf_set_test_server_port(test, request->port);
        iperf_set_test_connect_timeout(test, CONNECT_TIMEOUT_MS);
        iperf_set_test_reverse(test, request->kind == REQUEST_RECEIVE);
        iperf_set_test_num_streams(test, 1);
        iperf_set_test_rate(test, request->bytes_per_s * 8);
        /* Twenty blocks a second; libiperf's 128 kB would come in bursts at low rates. */
        iperf_set_test_blksize(test, (int)block);
        if (request->bytes) {
                iperf_set_test_duration(test, 0);
                iperf_set_test_bytes(test, request->bytes);
        } else {
                iperf_set_test_duration(test, whole_s);
        }
        iperf_set_test_stats_interval(test, MAX(1, MIN(whole_s, STATS_INTERVAL_MAX_S)));
        iperf_set_test_reporter_interval(test, MAX(1, MIN(whole_s, STATS_INTERVAL_MAX_S)));
        iperf_set_test_json_output(test, 1);
}

int peer_exchange(const struct request *request, struct tally *tally)
{
        struct sigaction action = { .sa_handler = count_and_leave };
        struct iperf_test *test = iperf_new_test();
        int err;

        if (!test || iperf_defaults(test) < 0)
                return traffic_fail(tally, -ENOMEM, "no memory");
        if (bind_to(test, request) < 0)
                return traffic_fail(tally, -EINVAL, "the interface %s: libiperf cannot bind to it: %s",
                                    request->interface, iperf_strerror(i_errno));
        configure(test, request);
        tally_of_signal = tally;
        sigaction(SIGTERM, &action, NULL);
        signal(SIGPIPE, SIG_IGN);
        iperf_run_client(test);
        signal(SIGTERM, SIG_DFL);
        err = read_report(test, request, tally);
        iperf_free_test(test);
        return err;
}
