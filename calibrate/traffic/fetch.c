/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fetch.h"

#include <errno.h>

#include "traffic.h"

/* To connect, and then without data. */
#define CONNECT_TIMEOUT_S 10L
#define SILENT_TIMEOUT_S 15L

/* Errors of the network or server, and errors of the request. */
int errno_from_curl(CURLcode code)
{
        switch (code) {
        case CURLE_OK:
                return 0;
        case CURLE_OUT_OF_MEMORY:
                return -ENOMEM;
        case CURLE_COULDNT_RESOLVE_HOST:
                return -EHOSTUNREACH;
        case CURLE_COULDNT_CONNECT:
                return -ECONNREFUSED;
        case CURLE_OPERATION_TIMEDOUT:
                return -ETIMEDOUT;
        case CURLE_URL_MALFORMAT:
        case CURLE_UNSUPPORTED_PROTOCOL:
                return -EINVAL;
        default:
                return -EIO;
        }
}

CURL *fetch_new(const struct request *request, char *error)
{
        CURL *curl = NULL;

        if (curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK)
                curl = curl_easy_init();
        if (!curl)
                return NULL;
        curl_easy_setopt(curl, CURLOPT_URL, request->url);
        curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
        curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
        curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
        curl_easy_setopt(curl, CURLOPT_MAXREDIRS, 5L);
        curl_easy_setopt(curl, CURLOPT_USERAGENT, "joulecast-traffic");
        if (request->interface[0]) {
                char interface[32];

                snprintf(interface, sizeof(interface), "if!%s", request->interface); /* SO_BINDTODEVICE */
                curl_easy_setopt(curl, CURLOPT_INTERFACE, interface);
                curl_easy_setopt(curl, CURLOPT_NOPROXY, "*"); /* the proxy would be another network path */
        }
        curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, error);
        curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, CONNECT_TIMEOUT_S);
        curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
        curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, SILENT_TIMEOUT_S);
        return curl;
}

void fetch_freep(CURL **curl)
{
        if (*curl)
                curl_easy_cleanup(*curl);
}

uint64_t fetch_overhead(CURL *curl, struct tally *tally)
{
        long request_size = 0, header_size = 0;

        curl_easy_getinfo(curl, CURLINFO_REQUEST_SIZE, &request_size);
        curl_easy_getinfo(curl, CURLINFO_HEADER_SIZE, &header_size);
        tally->tx_bytes += (uint64_t)request_size;
        tally->rx_bytes += (uint64_t)header_size;
        return (uint64_t)header_size;
}
