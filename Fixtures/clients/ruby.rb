# Ruby's Net::HTTP. preload.so leads it to the addresses.
require 'json'
require 'net/http'
require 'openssl'
require 'stringio'
require 'timeout'

ENV.keys.each { |name| ENV.delete(name) if name.downcase.end_with?('_proxy') || %w[SSL_CERT_FILE SSL_CERT_DIR].include?(name) }

class Leave < StandardError; end
class Deadline < Exception; end

def raw(text) = text.encode('ISO-8859-1').b

def latin1(bytes) = bytes.to_s.dup.force_encoding('ISO-8859-1').encode('UTF-8')

def require_of(job)
  settings = job.fetch('settings', {})
  known = %w[addresses certificate credentials decode headers proxy resume versions]
  settings.each do |name, value|
    next if name == 'follow' && !value
    raise Leave, 'it follows no redirects' if %w[follow redirects].include?(name)
    raise Leave, "it has no setting like `#{name}`" unless known.include?(name)
  end
  raise Leave, 'its OpenSSL speaks no TLS before 1.2 at this level of security' if settings.dig('versions', 0).to_s.start_with?('1.0', '1.1')
  raise Leave, 'it knows Basic, and is told it' unless [nil, ['basic']].include?(settings.dig('credentials', 'schemes')) && (!settings['credentials'] || settings.dig('credentials', 'schemes'))
  raise Leave, 'it answers no proxy by Digest' if settings.dig('proxy', 'digest')
  raise Leave, 'it gives a proxy names only' if settings.dig('proxy', 'addresses')
  job.fetch('keep', []).each { |name| raise Leave, "it keeps no #{name}" unless %w[connections sessions].include?(name) }
  raise Leave, 'it keeps TLS sessions only with connections' if job.fetch('keep', []).include?('sessions') && !job['keep'].include?('connections')
  raise Leave, 'its clock cannot be set' if job.key?('time')
  raise Leave, 'it looks up no address' if job['connect'].any? { |endpoint, targets| targets.size > 1 && endpoint =~ /\A(\[|[\d.]+:)/ }
  raise Leave, 'it switches to no other protocol' if job['requests'].any? { |request| request.key?('upgrade') }
end

# The sessions of a job, by origin: a session of Net::HTTP has one.
class Sessions
  def initialize(job)
    @job, @settings, @kept = job, job.fetch('settings', {}), {}
    @keep = job.fetch('keep', [])
  end

  def for(url)
    keeps = @keep.include?('connections')
    origin = [url.scheme, url.hostname, url.port]
    session = @kept[origin] || open(url)
    @kept[origin] = session if keeps
    # It resumes the TLS session of its last connection, and has no switch for that.
    resumes = @keep.include?('sessions') && @settings['resume'] != false
    session.instance_variable_set(:@ssl_session, nil) unless resumes
    session.start unless session.started?
    yield session
  ensure
    finish(session) unless keeps
  end

  def close = @kept.each_value { |session| finish(session) }

  private

  def finish(session)
    session.finish if session&.started?
  rescue IOError, SystemCallError, OpenSSL::SSL::SSLError
    nil
  end

  def open(url)
    proxy = @settings['proxy']
    place, _, port = proxy['at'].rpartition(':') if proxy
    session = Net::HTTP.new(url.hostname, url.port, place, port&.to_i, *(proxy ? proxy.values_at('user', 'password') : []))
    return session unless url.scheme == 'https'

    session.use_ssl = true
    session.ca_file = @job['roots']
    session.min_version, session.max_version = @settings['versions'].map { |version| "TLS#{version.tr('.', '_')}".to_sym } if @settings['versions']
    if @settings['certificate']
      text = File.read(@settings['certificate'])
      certificates = text.scan(/-----BEGIN CERT.*?-----END CERT[^\n]*/m).map { |pem| OpenSSL::X509::Certificate.new(pem) }
      session.cert, *session.extra_chain_cert = certificates
      session.key = OpenSSL::PKey.read(text)
    end
    session
  end
end

def ask(sessions, job, request)
  url = URI.parse(request['url'])
  fields = job.dig('settings', 'headers').to_a + request.fetch('headers', [])
  raise Leave, 'it sends one field of a name only' if fields.map { |name, _| name.downcase }.uniq.size < fields.size

  method, content = request.fetch('method', 'GET'), request['body']
  made = Net::HTTPGenericRequest.new(raw(method), !content.nil? || %w[POST PUT PATCH].include?(method), method != 'HEAD', url)
  fields.each { |name, value| made[raw(name)] = raw(value) }
  if content && request['stream']
    made.body_stream = StringIO.new(raw(content))
    made['Transfer-Encoding'] = 'chunked' unless made['Content-Length'] || made['Transfer-Encoding']
  elsif content
    made.body = raw(content)
  end
  told, first = job.dig('settings', 'credentials'), URI.parse(job['requests'][0]['url'])
  # Credentials are given with a request: with those for their origin.
  made.basic_auth(told['user'], told['password']) if told && [first.scheme, first.host, first.port] == [url.scheme, url.host, url.port]
  sessions.for(url) do |session|
    found = session.request(made)
    headers = found.to_hash.flat_map { |name, values| values.map { |value| [latin1(name), latin1(value)] } }
    { status: found.code.to_i, reason: latin1(found.message), version: found.http_version, headers: headers, body: latin1(found.body) }
  end
end

def attempt(job, &block)
  Timeout.timeout(job['timeout'] / 1000.0, Deadline, &block)
rescue Leave
  raise
rescue Exception => e # rubocop:disable Lint/RescueException
  raise if e.is_a?(SignalException) || e.is_a?(NoMemoryError)
  raise if !e.is_a?(Deadline) && e.backtrace_locations&.first&.absolute_path == __FILE__

  kind = case e
         when Deadline, Net::OpenTimeout, Net::ReadTimeout, Net::WriteTimeout then 'timeout'
         when Errno::ECONNREFUSED then 'refused'
         when OpenSSL::SSL::SSLError
           { 'hostname mismatch' => 'wrongName', 'certificate has expired' => 'expired' }.find { |words, _| e.message.include?(words) }&.last
         end
  { error: { kind: kind, text: "#{e.class}: #{e.message}".dup.force_encoding('UTF-8').scrub }.compact }
end

output = $stdout.dup
output.sync = true
$stdout.reopen($stderr)
output.puts JSON.generate(contract: 1, name: 'Net::HTTP', version: RUBY_VERSION, codings: %w[gzip deflate])
$stdin.each_line do |line|
  job = JSON.parse(line)
  reply = begin
    require_of(job)
    places = job['connect'].reject { |_, targets| targets.empty? }.map { |endpoint, targets| "#{endpoint}=#{targets.join(',')}" }
    ENV['CLIENT_CONNECT'] = places.empty? ? 'none=127.0.0.1:0' : places.join(';')
    sessions = Sessions.new(job)
    { results: job['requests'].map { |request| attempt(job) { ask(sessions, job, request) } } }
  rescue Leave => e
    { left: e.message }
  rescue StandardError => e
    { broken: e.full_message(highlight: false) }
  ensure
    sessions&.close
  end
  output.puts JSON.generate({ id: job['id'] }.merge(reply))
end
