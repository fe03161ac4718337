/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <sys/socket.h>

#include "fetch.h"
#include "util/units.h"
#include "util/util.h"

/*
 * Receives one URL repeatedly until time or bytes are used up. It is paced here, by delaying each chunk:
 * libcurl's own limit passes up to a hundred buffers before it checks.
 */

#define CHUNKS_PER_S 10

struct receiver {
        const struct request *request;
        struct tally *tally;
        uint64_t start_ns;
        uint64_t body_bytes; /* total of all transfers */
};

static double left_s(const struct receiver *receiver)
{
        return receiver->request->seconds - (double)(traffic_now_ns() - receiver->start_ns) / NS_PER_S;
}

static bool enough(const struct receiver *receiver)
{
        return left_s(receiver) <= 0.001 ||
               (receiver->request->bytes && receiver->body_bytes >= receiver->request->bytes);
}

/* Waits until the average rate since the start is right again. */
static void wait_for_rate(const struct receiver *receiver)
{
        double due_s = (double)receiver->body_bytes / (double)receiver->request->bytes_per_s;
        double elapsed_s = receiver->request->seconds - left_s(receiver);

        if (due_s > elapsed_s)
                traffic_sleep_s(MIN(due_s - elapsed_s, MAX(left_s(receiver), 0)));
}

static size_t take(char *data, size_t size, size_t n, void *user)
{
        struct receiver *receiver = user;

        receiver->body_bytes += size * n;
        receiver->tally->rx_bytes += size * n;
        wait_for_rate(receiver);
        /* A short count ends the transfer. */
        return enough(receiver) ? 0 : size * n;
}

/*
 * A window of half a second: otherwise the sender fills megabytes of socket buffer at once, and the radio
 * idles while we read them.
 */
static int narrow_window(void *user, curl_socket_t socket, curlsocktype purpose)
{
        const struct receiver *receiver = user;
        uint64_t half_second = receiver->request->bytes_per_s / 2;
        int bytes = (int)MAX(MIN(half_second, UINT64_C(4000000)), UINT64_C(8192));

        setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
        return CURL_SOCKOPT_OK;
}

static int receive_once(CURL *curl, struct receiver *receiver, const char *error)
{
        uint64_t before = receiver->body_bytes;
        CURLcode code;

        curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)(left_s(receiver) * 1000) + 1);
        code = curl_easy_perform(curl);
        fetch_overhead(curl, receiver->tally);
        if (enough(receiver))
                return receiver->body_bytes ? 0
                                            : traffic_fail(receiver->tally, -ETIMEDOUT,
                                                           "nothing was received from the url in time");
        if (code != CURLE_OK)
                return traffic_fail(receiver->tally, errno_from_curl(code),
                                    "nothing was received from the url: %s",
                                    *error ? error : curl_easy_strerror(code));
        if (receiver->body_bytes == before)
                return traffic_fail(receiver->tally, -ENODATA,
                                    "the url is empty; name a file of a megabyte or more");
        return 0;
}

int receive_from_url(const struct request *request, struct tally *tally)
{
        struct receiver receiver = { request, tally, traffic_now_ns(), 0 };
        uint64_t chunk = MAX(MIN(request->bytes_per_s / CHUNKS_PER_S, UINT64_C(131072)), UINT64_C(1024));
        char error[CURL_ERROR_SIZE] = "";
        _cleanup_(fetch_freep) CURL *curl = fetch_new(request, error);
        int err;

        if (!curl)
                return traffic_fail(tally, -ENOMEM, "no memory");
        curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
        curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
        curl_easy_setopt(curl, CURLOPT_WRITEDATA, &receiver);
        curl_easy_setopt(curl, CURLOPT_SOCKOPTFUNCTION, narrow_window);
        curl_easy_setopt(curl, CURLOPT_SOCKOPTDATA, &receiver);
        curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, (long)chunk);
        while (!enough(&receiver)) {
                err = receive_once(curl, &receiver, error);
                if (err < 0)
                        return err;
        }
        return 0;
}
