/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>

#include "fetch.h"
#include "util/units.h"
#include "util/util.h"

/* Small bursts with silence between them: a second or more wakes the radio, in less it stays awake. */

static bool more(const struct request *request, const struct tally *tally, uint64_t start_ns)
{
        double elapsed_s = (double)(traffic_now_ns() - start_ns) / NS_PER_S;

        if (request->bursts && tally->bursts >= request->bursts)
                return false;
        return tally->bursts == 0 || elapsed_s + request->silence_s < request->seconds;
}

/* HEAD: a request and an answer of some hundred bytes. Any answer will do. */
static int wake_url(const struct request *request, struct tally *tally)
{
        char error[CURL_ERROR_SIZE] = "";
        _cleanup_(fetch_freep) CURL *curl = fetch_new(request, error);
        uint64_t start_ns = traffic_now_ns();
        CURLcode code;

        if (!curl)
                return traffic_fail(tally, -ENOMEM, "no memory");
        curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
        while (more(request, tally, start_ns)) {
                if (tally->bursts)
                        traffic_sleep_s(request->silence_s);
                code = curl_easy_perform(curl);
                fetch_overhead(curl, tally);
                if (code != CURLE_OK)
                        return traffic_fail(tally, errno_from_curl(code), "the url does not answer: %s",
                                            *error ? error : curl_easy_strerror(code));
                tally->bursts++;
        }
        return 0;
}

static int bind_to(int fd, const char *interface)
{
        return *interface ? setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, interface,
                                       (socklen_t)strlen(interface))
                          : 0;
}

static int open_peer(const struct request *request, struct tally *tally)
{
        struct addrinfo hints = { .ai_socktype = SOCK_DGRAM }, *found = NULL;
        char port[8];
        int err, fd = -1;

        snprintf(port, sizeof(port), "%u", request->port);
        err = getaddrinfo(request->peer, port, &hints, &found);
        if (err)
                return traffic_fail(tally, -EHOSTUNREACH, "the peer %s: %s", request->peer,
                                    gai_strerror(err));
        for (const struct addrinfo *one = found; one && fd < 0; one = one->ai_next) {
                fd = socket(one->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
                if (fd >= 0 &&
                    (bind_to(fd, request->interface) < 0 || connect(fd, one->ai_addr, one->ai_addrlen) < 0)) {
                        close(fd);
                        fd = -1;
                }
        }
        err = fd < 0 ? traffic_fail(tally, -errno, "the peer %s: %s", request->peer, strerror(errno)) : fd;
        freeaddrinfo(found);
        return err;
}

/* A datagram without an answer; a peer that refuses the port was woken, too. */
static int wake_peer(const struct request *request, struct tally *tally)
{
        _cleanup_close_ int fd = open_peer(request, tally);
        uint64_t start_ns = traffic_now_ns();
        char datagram[WAKE_PACKET_BYTES_MAX] = { 0 };

        if (fd < 0)
                return fd;
        while (more(request, tally, start_ns)) {
                if (tally->bursts)
                        traffic_sleep_s(request->silence_s);
                for (uint32_t i = 0; i < request->packets; i++) {
                        if (send(fd, datagram, request->packet_bytes, 0) < 0 && errno != ECONNREFUSED)
                                return traffic_fail(tally, -errno, "the peer %s: %s", request->peer, strerror(errno));
                        tally->tx_bytes += request->packet_bytes;
                }
                tally->bursts++;
        }
        return 0;
}

int wake(const struct request *request, struct tally *tally)
{
        return request->url[0] ? wake_url(request, tally) : wake_peer(request, tally);
}
